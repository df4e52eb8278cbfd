"""A healthy script as text and tree, and the edits that make a sick one of it with the guilty lines known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

MARK = "\N{SECTION SIGN}"
_BLOCKS = ("body", "orelse", "finalbody")


@dataclass(frozen=True)
class Edit:
    """Bytes `start` to `end` become `text`; a MARK in the text makes its line a guilty one."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Mutant:
    """A sick script: where to look for the fault, and which codes name it."""

    mutator: str
    script: str
    source: str
    lines: frozenset[int]
    codes: tuple[str, ...]
    is_tuning: bool = False

    @property
    def name(self) -> str:
        return f"{self.script}:{self.mutator}"


@dataclass(frozen=True)
class Training:
    """The statements of one training step: those around a `backward`."""

    body: list[ast.stmt]
    backward: ast.Expr
    loop: ast.stmt | None
    loss: ast.Assign | None

    def call(self, method: str) -> ast.Expr | None:
        """The statement of this block that calls a method of this name."""
        return next((s for s in self.body if called(s) == method), None)


class Script:
    """Source text, its tree, and questions about it."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.data = text.encode()
        self.tree = ast.parse(text)
        self._starts = [0]
        for line in self.data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @classmethod
    def read(cls, path: Path) -> Script:
        return cls(path.stem, path.read_text())

    # -- looking ---------------------------------------------------------------------------------------------------

    def text(self, node: ast.AST) -> str:
        return self.data[slice(*self.span(node))].decode()

    def span(self, node: ast.AST) -> tuple[int, int]:
        start = self._starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end = self._starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        return start, end

    def lists_of_statements(self) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
        for node in ast.walk(self.tree):
            for block in _BLOCKS:
                body = getattr(node, block, None)
                if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                    yield node, body

    @cached_property
    def trainings(self) -> list[Training]:
        found = []
        for owner, body in self.lists_of_statements():
            for at, statement in enumerate(body):
                if called(statement) == "backward":
                    assert isinstance(statement, ast.Expr)
                    found.append(Training(body, statement, self._loop(owner), _loss(body[:at], statement)))
        return found

    def _loop(self, node: ast.AST | None) -> ast.stmt | None:
        while node is not None and not isinstance(node, ast.For | ast.While):
            if isinstance(node, ast.FunctionDef):
                return None
            node = self.parents.get(node)
        return node

    def calls(self, *names: str, within: ast.AST | None = None) -> Iterator[ast.Call]:
        """Calls of functions or methods with one of these last names, in the order of the source."""
        nodes = [n for n in ast.walk(within or self.tree) if isinstance(n, ast.Call) and last_name(n.func) in names]
        yield from sorted(nodes, key=lambda n: (n.lineno, n.col_offset))

    @cached_property
    def optimizers(self) -> list[ast.Call]:
        """Calls that build an optimizer: `torch.optim.X(...)`."""
        return [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call) and self.text(node.func).startswith("torch.optim.") and node.args
            if "." not in self.text(node.func).removeprefix("torch.optim.")
        ]

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that a node is part of."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def losses(self, *functions: str) -> list[ast.Call]:
        """Calls of loss functions in loops or functions, with gradient."""
        return [c for c in self.calls(*functions) if len(c.args) >= 2 and self._is_trained_on(c)]

    def _is_trained_on(self, node: ast.AST) -> bool:
        repeated = False
        above = self.parents.get(node)
        while above is not None:
            if isinstance(above, ast.With) and "no_grad" in self.text(above.items[0].context_expr):
                return False
            if isinstance(above, ast.FunctionDef) and ("eval" in above.name or above.decorator_list):
                return False
            repeated |= isinstance(above, ast.For | ast.While | ast.FunctionDef)
            above = self.parents.get(above)
        return repeated

    # -- changing --------------------------------------------------------------------------------------------------

    def replace(self, node: ast.AST, text: str) -> Edit:
        return Edit(*self.span(node), text)

    def append(self, node: ast.AST, text: str) -> Edit:
        end = self.span(node)[1]
        return Edit(end, end, text)

    def mark(self, node: ast.AST) -> Edit:
        """The first line of a node is a guilty one; the text stays."""
        start = self.span(node)[0]
        return Edit(start, start, MARK)

    def before(self, statement: ast.stmt, text: str) -> Edit:
        start = self._starts[statement.lineno - 1]
        return Edit(start, start, self._indented(statement, text))

    def after(self, statement: ast.stmt, text: str) -> Edit:
        assert statement.end_lineno is not None
        end = self._starts[statement.end_lineno]
        return Edit(end, end, self._indented(statement, text))

    def delete(self, statement: ast.stmt) -> Edit:
        assert statement.end_lineno is not None
        return Edit(self._starts[statement.lineno - 1], self._starts[statement.end_lineno], "")

    def stands_alone(self, statement: ast.stmt) -> bool:
        """Whether the statement has its lines to itself, and its block another one."""
        start, end = self.span(statement)
        assert statement.end_lineno is not None
        line = self.data[self._starts[statement.lineno - 1] : self._starts[statement.end_lineno]].decode()
        return line.partition("#")[0].strip() == self.data[start:end].decode().strip()

    def _indented(self, statement: ast.stmt, text: str) -> str:
        return "".join(" " * statement.col_offset + line + "\n" for line in text.splitlines())

    def apply(self, edits: list[Edit]) -> tuple[str, frozenset[int]] | None:
        """The changed text and its marked lines; None when that is no valid Python."""
        data = self.data
        # From the end on; of two at one place, whole new lines come before what begins there.
        for edit in sorted(edits, key=lambda e: (e.start, e.end, not e.text.endswith("\n")), reverse=True):
            data = data[: edit.start] + edit.text.encode() + data[edit.end :]
        marked = data.decode()
        lines = frozenset(n for n, line in enumerate(marked.splitlines(), start=1) if MARK in line)
        text = marked.replace(MARK, "")
        try:
            ast.parse(text)
        except SyntaxError:
            return None
        return text, lines


Mutate = Callable[[Script], Iterator[list[Edit]]]


@dataclass(frozen=True)
class Mutator:
    """A way to make scripts sick. `is_tuning`: it changes a choice that may turn out as well as the old one."""

    name: str
    codes: tuple[str, ...]
    mutate: Mutate
    is_tuning: bool = False
    most: int = 1

    def mutants(self, script: Script) -> Iterator[Mutant]:
        made = 0
        for edits in self.mutate(script):
            changed = script.apply(edits)
            if changed is None or changed[0].encode() == script.data:
                continue
            yield Mutant(self.name, script.name, *changed, self.codes, self.is_tuning)
            made += 1
            if made == self.most:
                return


MUTATORS: list[Mutator] = []


def mutator(*codes: str, is_tuning: bool = False) -> Callable[[Mutate], Mutate]:
    """Register a mutator under its function's name, with the codes (or beginnings of codes) that name its fault."""

    def register(mutate: Mutate) -> Mutate:
        MUTATORS.append(Mutator(mutate.__name__.replace("_", "-"), codes, mutate, is_tuning))
        return mutate

    return register


def last_name(function: ast.expr) -> str:
    """`cross_entropy` of `F.cross_entropy`."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def called(statement: ast.stmt) -> str:
    """The method that a statement consists of a call of, if it does."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        return function.attr if isinstance(function, ast.Attribute) else ""
    return ""


def _loss(before: list[ast.stmt], backward: ast.Expr) -> ast.Assign | None:
    """The assignment of the name that `backward` is called on (or given), nearest before it."""
    names = {n.id for n in ast.walk(backward) if isinstance(n, ast.Name)}
    for statement in reversed(before):
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
            first = target.elts[0] if isinstance(target, ast.Tuple) else target
            if isinstance(first, ast.Name) and first.id in names and "loss" in first.id:
                return statement
    return None
