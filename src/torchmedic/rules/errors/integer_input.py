"""Whole numbers fed to a layer of floats, or floats used as indices."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Frame, Run
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
    r"index_select\(\): Expected dtype int32 or int64 for index",
    r"gather\(\): Expected dtype int64 for index",
    r"scatter\w*\(\): Expected dtype int64 for index",
    r"one_hot is only applicable to index tensor",
)
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
        found = [(n, t) for n, t in tensors_on_line(run, frame) if t.dtype.startswith("float")]
        name = next((n for n, t in found if given is None or t.shape == given.shape), found[0][0] if found else "")
        trail = Trail(Code.of(run), _makes_float)
        line = user_line(crash)
        outer = _outermost_with(crash, name) or frame
        born = trail.of_name(name.partition("[")[0], outer.location) if name and outer is not None else None
        named = name or "the index"
        where = born or line
        dtype = given.dtype if given is not None else found[0][1].dtype if found else "not of whole numbers"
        user = f"`{layer_name(layer)}` looks up rows by whole numbers" if layer else "an index is a whole number"
        yield self.diagnose(
            headline=f"{quoted(named)} is {dtype}, but {user}",
            confidence="proven",
            where=where,
            label="made a float here" if born is not None else "",
            also=also((line, "looked up here"), but=where),
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
    """The failing frame of the user's; a comprehension has none of the function's variables, so the function's."""
    own = [f for f in reversed(crash.frames) if f.is_user]
    return next((f for f in own if not f.location.function.endswith(("<listcomp>", "<genexpr>"))), None)


def _outermost_with(crash: Crash, name: str) -> Frame | None:
    """The first frame that calls a tensor by this name: a module's `forward` is not called by its own name."""
    frames = (f for f in crash.frames if f.is_user)
    return next((f for f in frames if (v := f.value(name)) is not None and v.tensor is not None), None)


def _makes_float(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    typed = any(k.arg == "dtype" and "float" in ast.unparse(k.value) for k in node.keywords)
    return typed or dotted(node.func).rpartition(".")[2] in ("float", "FloatTensor")
