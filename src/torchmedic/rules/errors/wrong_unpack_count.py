"""More or fewer names on the left than the call returned."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.facts import Crash, Frame, LayerBuilt, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, short_type, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_MANY = r"too many values to unpack \(expected (?P<expected>\d+)(?:, got (?P<got>\d+))?\)"
_FEW = r"not enough values to unpack \(expected (?P<expected>(?:at least )?\d+), got (?P<got>\d+)\)"
_RETURNS = {
    "LSTM": ("two: the output of every step, and the pair `(h_n, c_n)`", "output, (h_n, c_n)"),
    "GRU": ("two: the output of every step, and `h_n`", "output, h_n"),
    "RNN": ("two: the output of every step, and `h_n`", "output, h_n"),
    "MultiheadAttention": ("two: the output, and the attention weights", "output, weights"),
    "LSTMCell": ("two: `h` and `c`", "h, c"),
    "GRUCell": ("one tensor `h`", "h"),
    "Linear": ("one tensor", "output"),
}


@dataclass(frozen=True)
class Returned:
    """What the right side gives: in words, how it would be unpacked, and where that is decided."""

    source: str
    words: str
    unpacking: str = ""
    decided: Location | None = None


class WrongUnpackCount(Rule):
    """The unpacking does not fit what was returned."""

    code = "ERR025"
    name = "wrong-unpack-count"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message counts values to unpack"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, _MANY, _FEW)
        line = user_line(crash) if crash is not None else None
        frame = crash.user_frame if crash is not None else None
        if crash is None or match is None or line is None or frame is None or crash.type_name != "ValueError":
            return
        code = Code.of(run)
        target, value = _sides(code.statement(line))
        if target is None or value is None:
            return
        expected, got = match["expected"], match["got"]
        returned = _returned(run, code, frame, value, line)
        names = ast.unparse(target).strip("()")
        what = returned.source if returned is not None else ast.unparse(value)
        gives = f"{got} values" if got else "more values"
        yield self.diagnose(
            headline=f"`{names}` takes {expected} values, but `{what}` gives {gives}",
            confidence="proven",
            where=line,
            mark=names if names in line.source else "",
            also=also(
                (returned.decided if returned else None, "what is returned is written here"),
                (_handed_in(code, crash, value), "handed in here"),
                but=line,
            ),
            culprit=Culprit(tensor=names, module=what, phase="forward", op="unpack"),
            evidence=(f"`{what}` returns {returned.words}",) if returned is not None else (),
            remedies=(_cure(line, names, returned),),
        )


def _handed_in(code: Code, crash: Crash, value: ast.expr) -> Location | None:
    """The caller's line, where what is unpacked came as an argument."""
    own = [f.location for f in crash.frames if f.is_user]
    function = code.scope(own[-1]) if len(own) > 1 else None
    if not isinstance(value, ast.Name) or not isinstance(function, ast.FunctionDef):
        return None
    return own[-2] if value.id in {a.arg for a in function.args.args} else None


def _sides(statement: ast.stmt | None) -> tuple[ast.expr | None, ast.expr | None]:
    if isinstance(statement, ast.Assign):
        return statement.targets[0], statement.value
    if isinstance(statement, ast.For):
        return statement.target, statement.iter
    return None, None


def _returned(run: Run, code: Code, frame: Frame, value: ast.expr, line: Location) -> Returned | None:
    if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in ("DataLoader", "enumerate", "tqdm"):
        item = _item_of_dataset(code)
        return Returned(dotted(value), *item) if item is not None else None
    if isinstance(value, ast.Call):
        name = dotted(value.func)
        if (layer := _layer(run, name)) in _RETURNS:
            words, unpacking = _RETURNS[layer]
            return Returned(f"{name}", f"{words} ({layer})", unpacking)
        own = code.function(name.rpartition(".")[2])
        return _from_function(code, name, *own) if own is not None else None
    held = frame.value(dotted(value))
    if held is not None and held.length is not None:
        kinds = ", ".join(str(i.tensor) if i.tensor is not None else short_type(i.type) for i in held.items)
        return Returned(dotted(value), f"{held.length} values: {kinds}")
    if held is not None and held.tensor is not None:
        return Returned(dotted(value), f"a tensor {held.tensor}, which unpacks along its first dimension")
    item = _item_of_dataset(code)
    return Returned(dotted(value), *item) if isinstance(value, ast.Name) and item is not None else None


def _layer(run: Run, name: str) -> str:
    path = name.removeprefix("self.")
    built = (b for b in run.all(LayerBuilt) if b.path == path or b.path.endswith(f".{path}"))
    return next((short_type(b.type) for b in built), "")


def _from_function(code: Code, name: str, file: str, function: ast.FunctionDef) -> Returned | None:
    returns = [n for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]
    if not returns:
        return None
    value = returns[-1].value
    count = len(value.elts) if isinstance(value, ast.Tuple) else 1
    words = f"{count} values: `{ast.unparse(value)}`" if value is not None and count > 1 else "one value"
    unpacking = ", ".join(ast.unparse(e) for e in value.elts) if isinstance(value, ast.Tuple) else ""
    plain = unpacking if all(part.strip().isidentifier() for part in unpacking.split(",")) else ""
    return Returned(name, words, plain, code.place(file, returns[-1]))


def _item_of_dataset(code: Code) -> tuple[str, str, Location] | None:
    """What the user's own `__getitem__` returns, for loops over a loader."""
    found = code.function("__getitem__") if sum("def __getitem__" in t for t in code.texts.values()) == 1 else None
    made = _from_function(code, "__getitem__", *found) if found is not None else None
    return (f"batches of {made.words}", "", made.decided) if made is not None and made.decided is not None else None


def _cure(line: Location, names: str, returned: Returned | None) -> Remedy:
    source = line.source.split("  #")[0].strip()
    if returned is not None and returned.unpacking and names in source:
        written = [part.strip() for part in names.split(",")]
        pair = len(written) == 3 and returned.unpacking.endswith("(h_n, c_n)")
        new = f"{written[0]}, ({written[1]}, {written[2]})" if pair else returned.unpacking
        return Remedy(title="unpack what is returned", diff=f"- {source}\n+ {source.replace(names, new, 1)}")
    return Remedy(title="write as many names on the left as values come from the right; `_` for those not needed")
