"""A batch that is a dictionary, taken apart into its keys instead of its values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.facts import Crash, Frame, LoaderAtCrash, Location, Run, Value
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_PATTERN = (
    r"must be Tensor, not str|'str' object has no attribute|string indices must be integers|can only concatenate str|"
    r"unsupported operand type\(s\) for .*'str'|not supported between instances of .*'str'"
)
_SAME_ITEMS = ("enumerate", "tqdm", "iter", "next", "islice")


@dataclass(frozen=True)
class _Unpacking:
    """A line that takes something apart, the names it binds, the keys they hold, and what it takes apart."""

    where: Location
    targets: ast.Tuple
    keys: tuple[str, ...]
    source: str


class KeysUnpacked(Rule):
    """Unpacking or looping over a dictionary gives its keys, which are texts."""

    code = "ERR101"
    name = "keys-unpacked"
    symptoms = (Symptom.CRASH,)
    tell_apart = "a `str` stands where a tensor is needed, and it is a key of the batch"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or said(crash, _PATTERN) is None:
            return
        code = Code.of(run)
        loaders = {seen.name for seen in run.all(LoaderAtCrash) if seen.batch_size is not None}
        frames = [f for f in reversed(crash.frames) if f.is_user]
        found = next((u for f in frames for u in _unpackings(code, f, loaders)), None)
        if found is None:
            return
        names = ast.unparse(found.targets).strip("()")
        first, key = ast.unparse(found.targets.elts[0]), found.keys[0]
        yield self.diagnose(
            headline=f"`{names}` are keys of a dictionary: `{first}` is the text `'{key}'`",
            confidence="proven" if found.source or _made(code, found.keys) is not None else "likely",
            where=found.where,
            mark=names if names in found.where.source else "",
            label="a dictionary gives its keys when it is taken apart",
            also=also((user_line(crash), "used here"), (_made(code, found.keys), "the keys"), but=found.where),
            culprit=Culprit(phase="data", op="unpack", field=key, tensor=first),
            evidence=(f"{_named(found)} has the keys {', '.join(map(repr, found.keys))}",),
            remedies=(Remedy(title="take the values by their keys", diff=_diff(found)),),
        )


def _named(found: _Unpacking) -> str:
    return f"`{found.source}`" if found.source else "the batch"


def _unpackings(code: Code, frame: Frame, loaders: set[str]) -> Iterator[_Unpacking]:
    """Lines of a frame's function whose names hold the keys of what they take apart."""
    scope = code.scope(frame.location)
    for node in ast.walk(scope) if scope is not None else ():
        target, value = _sides(node)
        if target is None or value is None or node.lineno > frame.location.line:  # type: ignore[attr-defined]
            continue
        held = [_text(frame.value(dotted(item))) for item in target.elts]
        keys = tuple(text for text in held if text)
        if len(keys) != len(target.elts) or len(set(keys)) != len(keys):
            continue
        whole = frame.value(dotted(value)) if isinstance(value, ast.Name) else None
        place = code.place(frame.location.file, node)
        words = all(key.isidentifier() for key in keys)
        if isinstance(node, ast.Assign) and whole is not None and set(keys) <= {item.name for item in whole.items}:
            yield _Unpacking(place, target, keys, dotted(value))
        elif isinstance(node, ast.For) and (_made(code, keys) is not None or (_looped(value) in loaders and words)):
            yield _Unpacking(place, target, keys, "")


def _sides(node: ast.AST) -> tuple[ast.Tuple | None, ast.expr | None]:
    """The names on the left, and what is taken apart; of `for i, (x, y) in enumerate(…)` the inner names."""
    if isinstance(node, ast.Assign):
        target: ast.expr = node.targets[0]
    elif isinstance(node, ast.For):
        target = node.target
        if isinstance(target, ast.Tuple) and target.elts and isinstance(target.elts[-1], ast.Tuple):
            target = target.elts[-1]
    else:
        return None, None
    value = node.value if isinstance(node, ast.Assign) else node.iter
    return (target, value) if isinstance(target, ast.Tuple) else (None, None)


def _looped(value: ast.expr) -> str:
    while isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in _SAME_ITEMS and value.args:
        value = value.args[0]
    return dotted(value)


def _text(value: Value | None) -> str:
    """The text that a variable held, without its quotes."""
    if value is None or value.type != "str" or not value.text:
        return ""
    return value.text.strip("'\"")


def _made(code: Code, keys: tuple[str, ...]) -> Location | None:
    """The dictionary with exactly these keys that the user's files write."""
    for file, tree in code.trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                written = [k.value for k in node.keys if isinstance(k, ast.Constant)]
                if tuple(written) == keys:
                    return code.place(file, node)
    return None


def _diff(found: _Unpacking) -> str | None:
    old = found.where.source.split("  #")[0].strip()
    names = ast.unparse(found.targets).strip("()")
    source = found.source or "batch"
    values = ", ".join(f'{source}["{key}"]' for key in found.keys)
    if found.source:
        return f"- {old}\n+ {names} = {values}"
    written = next((text for text in (f"({names})", names) if text in old), "")
    return f"- {old}\n+ {old.replace(written, 'batch', 1)}\n+     {names} = {values}" if written else None
