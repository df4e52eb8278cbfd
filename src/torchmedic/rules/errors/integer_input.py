"""Whole numbers fed to a layer of floats, or floats used as indices."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Frame, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._dtypes import first_holding, kinds_said
from torchmedic.rules.errors._origins import Trail
from torchmedic.rules.errors._reading import (
    also,
    crash_in,
    layer_in,
    layer_input,
    layer_name,
    quoted,
    said,
    short_type,
    tensors_on_line,
    user_line,
)
from torchmedic.rules.errors._syntax import Code, dotted

_WHOLE = ("int64", "int32", "int16", "int8", "uint8", "bool")
_INDEX = (
    r"Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int",
    r"tensors used as indices must be long, int, byte or bool",
    r"\w+\(\): (?:Expected (?:a long tensor|dtype int\S*(?: or int64)?) for index|dtype of indices should be Long)",
    r"one_hot is only applicable to index tensor",
)
_TAKING = ("gather", "scatter", "index_", "take")
_MEAN = r"could not infer output dtype|Input dtype must be either a floating point or complex dtype. Got: (\w+)"
# A kernel of a loss complains about its target.
_KERNEL = r"\"(?!\w*(?:loss|mse|cross_entropy))\w+\" not implemented for '(Long|Int|Short|Byte|Char|Bool)'"


class IntegerInput(Rule):
    """The element type of an input is of the wrong sort for the operation."""

    code = "ERR009"
    name = "integer-input"
    symptoms = (Symptom.CRASH,)
    tell_apart = "a layer, not a loss, complains about Long, Int, Byte or Bool"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        if crash is None or line is None or any("loss" in f.location.function for f in crash.frames[-3:]):
            return
        if said(crash, *_INDEX) is not None:
            yield from self._index(run, crash)
            return
        kinds = kinds_said(crash)
        whole = next((k for k in kinds or () if k in _WHOLE), None)
        mean = said(crash, _MEAN, _KERNEL)
        if (whole is None or "loss" in line.source) and mean is None:
            return
        layer = layer_in(crash)
        found = [(n, t) for n, t in tensors_on_line(run, crash.user_frame) if t.dtype in _WHOLE]
        held = first_holding(crash, whole) if whole is not None else None
        named = found[0][0] if found else held[1] if held is not None else "the input"
        dtype = found[0][1].dtype if found else whole or "of whole numbers"
        yield self.diagnose(
            headline=f"{quoted(named)} is {dtype}, but "
            + (f"`{layer_name(layer)}` computes in floats" if layer is not None else "this operation needs floats"),
            confidence="proven",
            where=line,
            culprit=Culprit(tensor=named, module=layer_name(layer) if layer else None, phase="forward"),
            evidence=(f"`{layer_name(layer)}` is {short_type(layer.type)} with float32 weights",) if layer else (),
            remedies=(Remedy(title=f"convert it: `{'' if ' ' in named else named}.float()`", detail=_scale(dtype)),),
        )

    def _index(self, run: Run, crash: Crash) -> Iterator[Diagnosis]:
        layer = layer_in(crash)
        given = layer_input(crash)
        frame = _whole_function(crash)
        code = Code.of(run)
        asked = _index_argument(code, frame.location) if frame is not None else ""
        floats = [(n, t) for n, t in tensors_on_line(run, frame) if t.dtype.startswith("float")]
        found = [(n, t) for n, t in floats if n == asked] or floats
        name = next((n for n, t in found if given is None or t.shape == given.shape), found[0][0] if found else "")
        trail = Trail(code, _makes_float)
        line = user_line(crash)
        outer = _outermost_with(crash, name) or frame
        array = _floats_called(code, name)
        is_followed = name and outer is not None and array is None
        born = trail.of_name(name.partition("[")[0], outer.location) if is_followed and outer is not None else None
        named = name or "the index"
        where = born or line
        dtype = given.dtype if given is not None else found[0][1].dtype if found else "not of whole numbers"
        user = f"`{layer_name(layer)}` looks up rows by whole numbers" if layer else "an index is a whole number"
        yield self.diagnose(
            headline=f"{quoted(named)} is {dtype}, but {user}",
            confidence="proven",
            where=where,
            label="made a float here" if born is not None else "",
            also=also(
                (line, "looked up here"),
                (array, "the array of this name holds floats"),
                but=where,
            ),
            culprit=Culprit(tensor=named, module=layer_name(layer) if layer else None, phase="forward", op="index"),
            evidence=("an embedding table is indexed by int64 or int32 ids",) if layer else (),
            remedies=(
                Remedy(title="keep the ids whole: `.long()` instead of `.float()`")
                if born is not None
                else Remedy(title=f"convert it: `{named.removeprefix('the ')}.long()`"),
            ),
        )


def _scale(dtype: str) -> str:
    return "and divide bytes by 255 to get values from 0 to 1" if dtype == "uint8" else ""


def _whole_function(crash: Crash) -> Frame | None:
    """The failing frame of the user's; a generator has none of the function's variables, so the function's."""
    own = [f for f in reversed(crash.frames) if f.is_user]
    return next((f for f in own if not f.location.function.endswith("<genexpr>")), None)


def _outermost_with(crash: Crash, name: str) -> Frame | None:
    """The first frame that calls a tensor by this name: a module's `forward` is not called by its own name."""
    frames = (f for f in crash.frames if f.is_user)
    return next((f for f in frames if (v := f.value(name)) is not None and v.tensor is not None), None)


def _index_argument(code: Code, line: Location) -> str:
    """The name that a line gives `gather`, `scatter` and the like as their index."""
    for node in (n for statement in code.statements(line) for n in ast.walk(statement)):
        word = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
        if isinstance(node, ast.Call) and word.startswith(_TAKING):
            named = [k.value for k in node.keywords if k.arg in ("index", "indices")]
            # As a function of torch it is given the tensor first.
            at = (1 if dotted(node.func) == f"torch.{word}" else 0) + (0 if word.startswith("take") else 1)
            given = named or node.args[at : at + 1]
            return ast.unparse(given[0]) if given else ""
    return ""


def _floats_called(code: Code, name: str) -> Location | None:
    """The one line that makes an array of floats under the same name."""
    last = name.partition("[")[0].rpartition(".")[2]
    made = [a for a in code.attribute_assignments(last) if a.value is not None and _holds_floats(a.value)]
    return made[0].location if last and len(made) == 1 else None


def _holds_floats(value: ast.expr) -> bool:
    words = (ast.unparse(k.value) for call in ast.walk(value) if isinstance(call, ast.Call) for k in call.keywords)
    return any("float" in word for word in words)


def _makes_float(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    typed = any(k.arg == "dtype" and "float" in ast.unparse(k.value) for k in node.keywords)
    return typed or dotted(node.func).rpartition(".")[2] in ("float", "FloatTensor")
