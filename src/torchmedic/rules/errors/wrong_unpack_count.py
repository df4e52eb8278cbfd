"""More or fewer names on the left than the call returned."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.facts import Crash, FailedUnpack, Frame, LayerBuilt, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, short_type, user_line
from torchmedic.rules.errors._syntax import Code, dotted
from torchmedic.rules.errors._unpacking import RETURNS, Part, Shape, at_fault, fitted, inside, source_of

_MANY = r"too many values to unpack \(expected (?P<expected>\d+)(?:, got (?P<got>\d+))?\)"
_FEW = r"not enough values to unpack \(expected (?P<expected>(?:at least )?\d+), got (?P<got>\d+)\)"
_WORDS = {
    "LSTM": "two: the output of every step, and the pair `(h_n, c_n)`",
    "GRU": "two: the output of every step, and `h_n`",
    "RNN": "two: the output of every step, and `h_n`",
    "MultiheadAttention": "two: the output, and the attention weights",
    "LSTMCell": "two: `h` and `c`",
    "GRUCell": "one tensor `h`",
    "RNNCell": "one tensor `h`",
}
_ONE_TENSOR = re.compile(r"torch\.nn\.modules\.(linear|conv|batchnorm|normalization|dropout|pooling|sparse|flatten)\.")


@dataclass(frozen=True)
class Returned:
    """What the right side gives: in words, its form by usual names, and where that is decided."""

    source: str
    words: str
    form: Shape | None = None
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
        seen = run.last(FailedUnpack)
        layer = _layer(run, frame, dotted(value.func)) if isinstance(value, ast.Call) else ""
        part = at_fault(target, value, match["expected"], seen.span if seen is not None else "", _given(layer))
        if part is None:
            return
        source, within = source_of(value, part.path)
        returned = _returned(run, code, frame, source)
        what = returned.source if returned is not None else ast.unparse(source)
        written = next((n for n in (part.text, ast.unparse(part.target)) if n in line.source), "")
        yield self.diagnose(
            headline=_headline(part, match, layer, what, within),
            confidence="proven",
            where=line,
            mark=written,
            also=also(
                (returned.decided if returned else None, "what is returned is written here"),
                (_handed_in(code, crash, value), "handed in here"),
                but=line,
            ),
            culprit=Culprit(tensor=part.text, module=what, phase="forward", op="unpack"),
            evidence=(f"`{what}` returns {returned.words}",) if returned is not None else (),
            remedies=(_cure(line, target, returned),),
        )


def _headline(part: Part, match: re.Match[str], layer: str, what: str, within: tuple[int, ...]) -> str:
    """Which names could not be filled, and with what."""
    expected, got, kind = match["expected"], match["got"], short_type(layer)
    given = inside(_given(layer), within) if within else None
    if given is not None and len(within) == 1:
        form = "one tensor" if isinstance(given, str) else f"a tuple of {len(given)}"
        if within[0]:
            return f"`{part.text}` takes {expected} values, but the second result of `{kind}` is {form}"
        return f"`{part.text}` takes {expected} values, but the first result of `{kind}` is {form}"
    gives = "more values" if not got else "1 value" if got == "1" else f"{got} values"
    if not within and isinstance(_given(layer), str):
        gives = "one tensor"
    if len(within) == 1:
        return f"`{part.text}` takes {expected} values, but `{what}` gives {gives} at index {within[0]}"
    return f"`{part.text}` takes {expected} values, but `{what}` gives {gives}"


def _given(layer: str) -> Shape | None:
    return RETURNS.get(short_type(layer), "output" if _ONE_TENSOR.match(layer) else None)


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


def _returned(run: Run, code: Code, frame: Frame, value: ast.expr) -> Returned | None:
    if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in ("DataLoader", "enumerate", "tqdm"):
        item = _item_of_dataset(code)
        return Returned(dotted(value), *item) if item is not None else None
    if isinstance(value, ast.Call):
        name = dotted(value.func)
        layer = _layer(run, frame, name)
        if (given := _given(layer)) is not None:
            kind = short_type(layer)
            return Returned(name, f"{_WORDS.get(kind, 'one tensor')} ({kind})", given)
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


def _layer(run: Run, frame: Frame, name: str) -> str:
    """The type of the layer that is called by this name; of several that end so, only where all are of one type."""
    path = name.removeprefix("self.")
    around = frame.module.path if frame.module is not None else ""
    built = {b.path: b.type for b in run.all(LayerBuilt)}
    if (exact := built.get(f"{around}.{path}" if around else path)) is not None:
        return exact
    fitting = {kind for own, kind in built.items() if own.endswith(f".{path}")}
    return fitting.pop() if len(fitting) == 1 else ""


def _from_function(code: Code, name: str, file: str, function: ast.FunctionDef) -> Returned | None:
    returns = [n for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]
    if not returns:
        return None
    value = returns[-1].value
    count = len(value.elts) if isinstance(value, ast.Tuple) else 1
    words = f"{count} values: `{ast.unparse(value)}`" if value is not None and count > 1 else "one value"
    plain = tuple(e.id for e in value.elts if isinstance(e, ast.Name)) if isinstance(value, ast.Tuple) else ()
    return Returned(name, words, plain if plain and len(plain) == count else None, code.place(file, returns[-1]))


def _item_of_dataset(code: Code) -> tuple[str, None, Location] | None:
    """What the user's own `__getitem__` returns, for loops over a loader."""
    found = code.function("__getitem__") if sum("def __getitem__" in t for t in code.texts.values()) == 1 else None
    made = _from_function(code, "__getitem__", *found) if found is not None else None
    return (f"batches of {made.words}", None, made.decided) if made is not None and made.decided is not None else None


def _cure(line: Location, target: ast.expr, returned: Returned | None) -> Remedy:
    source = line.source.split("  #")[0].strip()
    left, equals, right = source.partition(" = ")
    if returned is not None and returned.form is not None and equals and ast.unparse(target).strip("()") in f"({left})":
        indent = left[: len(left) - len(left.rpartition("; ")[2])]
        return Remedy(
            title="unpack what is returned", diff=f"- {source}\n+ {indent}{fitted(target, returned.form)} = {right}"
        )
    return Remedy(title="write as many names on the left as values come from the right; `_` for those not needed")
