"""A sequence longer than the table of positions added to it: how long the table is, and where that is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.facts import Crash, LayerBuilt, Location, Run
from torchmedic.rules.errors._following import constants_behind
from torchmedic.rules.errors._reading import tensors, user_line
from torchmedic.rules.errors._syntax import Code, dotted


@dataclass(frozen=True)
class ShortTable:
    """A table with too few rows: what it is called, where its length is written, and where that of the input is."""

    name: str
    rows: int
    asked: int
    where: Location | None
    why: str
    is_setting: bool = False


def short_table(run: Run, crash: Crash, a: int, b: int) -> ShortTable | None:
    """The table whose slice came out shorter than was asked for; None where sizes differ for another reason."""
    rows, asked = min(a, b), max(a, b)
    if min(rows, asked) < 2:
        return None
    return _sliced(run, crash, rows, asked) or _of_model(run, crash, rows, asked)


def _sliced(run: Run, crash: Crash, rows: int, asked: int) -> ShortTable | None:
    """`x + self.pe[:x.size(1)]`, where `self.pe` ends before."""
    code, line, frame = Code.of(run), user_line(crash), crash.user_frame
    if line is None or frame is None:
        return None
    sizes = {name: tensor.shape for name, tensor in tensors(frame)}
    for node in (n for statement in code.statements(line) for n in ast.walk(statement)):
        name = dotted(node.value) if isinstance(node, ast.Subscript) else ""
        if isinstance(node, ast.Subscript) and name.startswith("self.") and rows in _cut(node, sizes.get(name, ())):
            return ShortTable(name, rows, asked, _length_written(code, line, name, rows), "its length is set here")
    return None


def _cut(node: ast.Subscript, sizes: tuple[int, ...]) -> Iterator[int]:
    """The sizes along which a subscript takes a beginning whose length is worked out."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for part, size in zip(parts, sizes, strict=False):
        if isinstance(part, ast.Slice) and part.upper is not None and not isinstance(part.upper, ast.Constant):
            yield size


def _length_written(code: Code, line: Location, name: str, rows: int) -> Location | None:
    """The one place where the class that keeps the table, or who makes it, writes its length."""
    cls = line.function.rpartition(".")[0].rpartition(".")[2]
    found = code.function("__init__", cls) if cls else None
    if found is None:
        return None
    file, init = found
    places: list[Location] = []
    inner = code.place(file, init.body[-1])
    for argument in (*init.args.args, *init.args.kwonlyargs):
        behind = constants_behind(code, ast.Name(id=argument.arg, ctx=ast.Load()), inner)
        places += [at for at, value in behind if value == rows and type(value) is int]
    if not places:
        numbers = (n for part in init.body for n in ast.walk(part) if isinstance(n, ast.Constant) and n.value == rows)
        places = [code.place(file, n) for n in numbers]
    lines = {(place.file, place.line): place for place in places}
    return next(iter(lines.values())) if len(lines) == 1 else None


def _of_model(run: Run, crash: Crash, rows: int, asked: int) -> ShortTable | None:
    """The positions of a model of a library: its embedding of positions has as many rows as the message says."""
    if not any("transformers" in frame.location.file for frame in crash.frames if not frame.is_user):
        return None
    tables = [b for b in run.all(LayerBuilt) if "position" in b.path.rpartition(".")[2]]
    if not any(b.settings.get("num_embeddings") == str(rows) for b in tables):
        return None
    code = Code.of(run)
    longer = [
        code.place(file, value)
        for file, tree in code.trees.items()
        for value in _lengths(tree)
        if isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value > rows
    ]
    where = longer[0] if len({(p.file, p.line) for p in longer}) == 1 else None
    return ShortTable("max_position_embeddings", rows, asked, where, "longer texts are let through here", True)


def _lengths(tree: ast.AST) -> Iterator[ast.expr]:
    """What is written for `max_length`: in calls, as a default, as a variable."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in _NAMES:
            yield node.value
        elif isinstance(node, ast.FunctionDef):
            last = node.args.args[len(node.args.args) - len(node.args.defaults) :]
            yield from (d for a, d in zip(last, node.args.defaults, strict=True) if a.arg in _NAMES)
        elif isinstance(node, ast.Assign) and any(dotted(t).lower() in _NAMES for t in node.targets):
            yield node.value


_NAMES = ("max_length", "max_len", "max_seq_len", "max_seq_length", "block_size")
