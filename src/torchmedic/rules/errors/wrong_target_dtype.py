"""A loss whose target has the wrong element type."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Frame, Location, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._dtypes import plain_kind
from torchmedic.rules.errors._reading import crash_in, quoted, said, short_type, tensors, tensors_on_line, user_line
from torchmedic.rules.errors._syntax import dotted

_LONG = (
    r"expected scalar type Long but found (\w+)",
    r"expected target.* Long",
    r"\"nll_loss\w*\" not implemented for '(Int|Short|Byte|Char|Bool|Float|Double)'",
    r"Expected floating point type for target with class probabilities, got (\w+)",
    r"expected (?:target )?dtype .*Long",
)
_FLOAT = (
    r"result type Float can't be cast to the desired output type (\w+)",
    r"Found dtype (\w+) but expected Float",
    r"\"(?:binary_cross_entropy|mse)\w*\" not implemented for '(\w+)'",
    r"expected scalar type Float but found Long",
    r"Subtraction, the `-` operator, with (?:two bool tensors|a bool tensor) is not supported",
)
_CLASS_LOSSES = ("cross_entropy", "nll_loss")
_LOSSES = (
    *_CLASS_LOSSES,
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
)


class WrongTargetDtype(Rule):
    """Class indices as floats, or measurements as whole numbers."""

    code = "ERR008"
    name = "wrong-target-dtype"
    symptoms = (Symptom.CRASH,)
    tell_apart = "a loss function complains about Long or Float"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None:
            return
        frame = _loss_frame(crash)
        wants_long = said(crash, *_LONG)
        wants_float = said(crash, *_FLOAT)
        if (wants_long is None and wants_float is None) or (
            frame is None and not said(crash, "nll_loss|Found dtype Long")
        ):
            return
        line = user_line(crash)
        target = _target(run, crash, frame)
        classes = wants_long is not None and (frame is None or frame.location.function in _CLASS_LOSSES)
        name, form = target if target is not None else (_written_target(line, frame) or "the target", None)
        found = (wants_long or wants_float) if form is None else None
        loss = frame.location.function if frame is not None else "the loss"
        if form is not None and form.dtype == "float64" and not classes:
            return
        yield self.diagnose(
            headline=f"`{loss}` takes {'whole numbers (int64)' if classes else 'floats'} as target, "
            f"but {quoted(name)} is {form.dtype if form else _dtype_said(found) or 'of another type'}",
            confidence="proven" if form is not None else "likely",
            where=line,
            culprit=Culprit(tensor=name, op=loss, phase="forward"),
            evidence=tuple(_evidence(crash, name, form, classes)),
            remedies=(_cure(name, form, classes),),
        )


def _loss_frame(crash: Crash) -> Frame | None:
    return next((f for f in reversed(crash.frames) if not f.is_user and f.location.function in _LOSSES), None)


def _target(run: Run, crash: Crash, frame: Frame | None) -> tuple[str, TensorSummary] | None:
    """The target under the user's name for it: the tensor of the user's line with the form the loss was given."""
    mentioned = tensors_on_line(run, crash.user_frame)
    value = frame.value("target") if frame is not None else None
    if value is not None and value.tensor is not None:
        form = (value.tensor.shape, value.tensor.dtype)
        return next(((n, t) for n, t in mentioned if (t.shape, t.dtype) == form), ("target", value.tensor))
    whole = [(n, t) for n, t in [*mentioned, *tensors(crash.user_frame)] if t.dtype.startswith(("int", "uint", "bool"))]
    return whole[0] if whole else None


def _written_target(line: Location | None, frame: Frame | None) -> str:
    """The target's expression where only the text of the line is known: the second argument of the call of a loss."""
    try:
        tree = ast.parse(line.source.strip()) if line is not None and frame is not None else ast.Module([], [])
    except SyntaxError:
        return ""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and len(n.args) == 2]
    named = [c for c in calls if re.search(r"loss|crit|entropy", dotted(c.func), re.IGNORECASE)]
    target = named[0].args[1] if len(named) == 1 else None
    if line is None or not isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
        return ""
    return ast.get_source_segment(line.source.strip(), target) or ""


def _dtype_said(found: re.Match[str] | None) -> str:
    """The type that the message complains about."""
    return plain_kind(found[1]) if found is not None and found.lastindex else ""


def _evidence(crash: Crash, name: str, form: TensorSummary | None, classes: bool) -> Iterator[str]:
    loss = next((f.module for f in reversed(crash.frames) if f.module is not None and not f.is_user), None)
    if loss is not None:
        yield f"the loss is `{short_type(loss.type)}`"
    if form is not None:
        span = (
            f", values {form.minimum:g} to {form.maximum:g}"
            if form.minimum is not None and form.maximum is not None
            else ""
        )
        yield f"`{name}` is {form}{span}"
    if form is not None and form.dtype == "bool":
        yield "the loss subtracts, and torch subtracts no booleans"
    elif not classes:
        yield "the loss is computed in the type of the prediction, and whole numbers cannot hold it"


def _cure(name: str, form: TensorSummary | None, classes: bool) -> Remedy:
    name = name.removeprefix("the ")
    if not classes:
        return Remedy(title=f"convert the target: `{name}.float()`")
    squeezed = form is not None and len(form.shape) == 2 and form.shape[1] == 1
    return Remedy(title=f"convert the target: `{name}{'.squeeze(1)' if squeezed else ''}.long()`")
