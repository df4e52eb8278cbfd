"""Sentences about a sick step: evidence, what was ruled out, which cures were tried."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchmedic.facts import Growth, Operand, OpFact, Trial
from torchmedic.findings import Remedy, RuledOut
from torchmedic.rules.numerics._case import Case, factor

_SUSPECTS = {"float32 precision": "float64"}
_WIDEST = 90
_DATA = "bad values in the data"


def number(value: float | None) -> str:
    """Few digits, as a person would write them down.

    >>> number(0.6327049), number(1.0), number(3.2e-9)
    ('0.633', '1', '3.2e-09')
    """
    if value is None:
        return "unknown"
    return f"{value:.3g}"


def fitted(headline: str, *shorter: str) -> str:
    """The first of these headlines that fits a line, else the last, cut."""
    texts = (headline, *shorter)
    return next((text for text in texts if len(text) <= _WIDEST), texts[-1][:_WIDEST].rstrip())


def short(text: str, most: int = 40) -> str:
    """A piece of code that fits a headline."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def at_step(case: Case) -> str:
    return f"at step {case.sick.step}" if case.sick.step is not None else ""


def became(case: Case) -> str:
    """What the user saw."""
    if case.sick.what == "gradient":
        return (
            "the gradients became NaN"
            if case.op is None or case.op.makes_nan or case.turn
            else "a gradient became infinite"
        )
    if case.sick.what == "buffer":
        return f"the buffer `{case.sick.bad_buffers[0]}` became NaN" if case.sick.bad_buffers else "a buffer became NaN"
    loss = case.sick.loss
    return "the loss became NaN" if loss is None or math.isnan(loss) else "the loss became infinite"


def common_evidence(case: Case) -> Iterator[str]:
    """What every diagnosis of a sick step tells, in the order of the walk: operation, NaN, consequences, replay."""
    if case.op is not None:
        yield from _of_operation(case.op)
    sample = sample_of(case)
    if sample is not None and case.source is None:
        yield f"that row of this rank's batch is sample {sample} of the data set"
    turn = case.turn
    if turn is not None and turn.where is not None:
        said = (
            f" in the backward of `{short(turn.expression, 60)}`"
            if turn.phase == "backward"
            else f" in `{short(turn.expression, 60)}`"
        )
        yield f"infinity turned into NaN{said} ({turn.where})"
    yield from _way(case)
    yield from _consequences(case)
    yield from _replay(case)


def _way(case: Case) -> Iterator[str]:
    """The lines that passed the bad values on, from the guilty operation to the loss, with the layers they ran."""
    origin = case.origin
    if origin is None or origin.op.phase != "forward" or origin.op.where is None or case.sick.what == "update":
        return
    stops: dict[str, list[str]] = {}
    for op in origin.chain:
        if op.where is not None and str(op.where) != str(origin.op.where):
            layers = stops.setdefault(str(op.where), [])
            # The outermost module goes by the name of its class: that says no more than the line does.
            layers += [op.module] if op.module and not op.module[0].isupper() and op.module not in layers else []
    if stops:
        said = [f"{place} (`{'`, `'.join(layers[:2])}`)" if layers else place for place, layers in stops.items()]
        yield "the way to the loss: " + " -> ".join(said if len(said) <= 6 else [*said[:3], "…", *said[-2:]])


def _of_operation(op: OpFact) -> Iterator[str]:
    if op.bad and op.result is not None:
        what = "NaN" if op.result.nan == op.bad else "infinite" if op.result.inf == op.bad else "NaN or infinite"
        place = f", the first at {list(op.index)}" if op.index else ""
        of = (
            f"the derivative of `{short(op.expression, 50)}`"
            if op.phase == "backward" and not op.is_own_backward
            else f"`{short(op.expression, 50)}`"
        )
        yield f"{op.bad} of {op.result.numel} values of {of} {'is' if op.bad == 1 else 'are'} {what}{place}"
    of_derivative = op.phase == "backward" and not op.is_own_backward
    for operand in op.forward_operands if of_derivative else op.operands:
        if operand.name and operand.tensor.minimum is not None:
            yield ranged(operand)
    if op.library is not None:
        yield f"inside a library: {str(op.library).rpartition('site-packages/')[2]}"


def ranged(operand: Operand) -> str:
    """`p` is float32[64], from 0 to 0.98"""
    tensor = operand.tensor
    if tensor.minimum == tensor.maximum:
        return f"`{operand.name}` is {tensor}, all {number(tensor.minimum)}"
    return f"`{operand.name}` is {tensor}, from {number(tensor.minimum)} to {number(tensor.maximum)}"


def _consequences(case: Case) -> Iterator[str]:
    bad, total = len(case.sick.bad_parameters), case.sick.parameters
    first = case.sick.bad_parameters[0] if bad else ""
    if bad and case.sick.what != "update":
        yield f"{bad} of {total} gradients became NaN or infinite, the first that of `{first}`"
    elif bad and case.origin is not None:
        yield f"the update made {bad} of {total} parameters NaN or infinite, the first `{first}`"
    if case.sick.bad_buffers:
        buffers = ", ".join(f"`{name}`" for name in case.sick.bad_buffers[:3])
        yield f"NaN was written into the buffer {buffers}: loss and gradients are finite, evaluation will not be"
    if case.skipped is not None:
        what = "loss was" if case.skipped.what == "loss" else "gradients were"
        total = case.skipped.skipped + case.skipped.updates
        yield f"the {what} not finite, and the script itself left out {case.skipped.skipped} of {total} updates"
    if case.sick.what == "scaler" and case.sick.scale is not None:
        yield f"the loss scale is {number(case.sick.scale)}: the scaler skips such steps and trains nothing"


def _replay(case: Case) -> Iterator[str]:
    if case.sick.reproduced and case.sick.way:
        yield f"{case.sick.way}: the same happened again"
    if case.sick.weights_saved:
        saved = case.sick.weights_saved
        yield (
            f"the update was applied all the same; weights from before it: `{saved}` in the run folder"
            if case.sick.was_applied
            else f"the update was not applied; weights from before it: `{saved}` in the run folder"
        )


def sample_of(case: Case) -> int | None:
    """The data set's index of the first bad row, where the operation works on the rows of a batch that is known."""
    origin = case.origin
    if origin is None or not origin.op.index or origin.op.result is None or not origin.samples:
        return None
    of_batch = origin.op.result.shape[:1] == (len(origin.samples),)
    return origin.samples[origin.op.index[0]] if of_batch else None


def tried(case: Case, suspects: tuple[str, ...] | None) -> Iterator[Remedy]:
    """Cures that made the failing step finite."""
    for trial in case.trials:
        if trial.suspect == _DATA and case.birth is not None and case.birth.helped:
            continue
        if trial.helps and trial.is_cure and not trial.hides and (suspects is None or trial.suspect in suspects):
            yield Remedy(title=imperative(trial.change), detail=_result(trial), verified=True)


def tried_on_line(case: Case) -> Iterator[Remedy]:
    """A change of the line of preparation that made its values finite."""
    birth = case.birth
    if birth is None or not birth.helped:
        return
    finite = next((t for t in case.trials if t.suspect == _DATA and t.helps), None)
    then = f"; with finite values the failing step has {_outcome(finite)}" if finite is not None else ""
    made = "no value infinite" if birth.bad > birth.nan > 0 else "every value finite"
    yield Remedy(title=birth.helped, detail=f"tried on that line: {made}{then}", verified=True)


def _result(trial: Trial) -> str:
    how = " with 0 in their place" if trial.suspect == _DATA else ""
    return f"tried on the failing step{how}: {_outcome(trial)}"


def _outcome(trial: Trial) -> str:
    loss = f"loss {number(trial.loss)}, " if trial.loss is not None and math.isfinite(trial.loss) else ""
    return f"{loss}all gradients finite"


def imperative(change: str) -> str:
    """A change as something to do.

    >>> imperative("`x.clamp_min(1e-8)`"), imperative("that call in float32")
    ('write `x.clamp_min(1e-8)`', 'run that call in float32')
    """
    if change.startswith("`"):
        return f"write {change}"
    if change.startswith(("that call", "the whole step")):
        return f"run {change}"
    return f"use {change}" if change.startswith(("a ", "an ")) else change


def ruled_out(case: Case) -> Iterator[RuledOut]:
    """Suspects that were shown to be innocent: by a trial, or by an argument that the facts allow."""
    for trial in case.trials:
        if not trial.helps and not trial.is_cure and "nan_to_num" not in trial.suspect:
            yield RuledOut(suspect=_SUSPECTS.get(trial.suspect, trial.suspect), how=f"the same with {trial.change}")
        elif trial.hides and not trial.helps:
            yield RuledOut(suspect="`nan_to_num`", how="the same with it on the input")
    if case.sick.what == "update" or case.origin is None:
        return
    yield from _by_data(case)
    is_explosion = case.grown is not None or case.loss_grew
    if not is_explosion and case.sick.reproduced:
        how = (
            "the step alone, run again before its update, reproduces it"
            if case.sick.was_applied
            else "the update was withheld and the step alone reproduces it"
        )
        yield RuledOut(suspect="learning rate", how=how)
    if not is_explosion and (case.sick.what == "gradient" or case.sick.bad_parameters):
        yield RuledOut(suspect="gradient clipping", how="the gradient is already non-finite when clipping sees it")


def _by_data(case: Case) -> Iterator[RuledOut]:
    """All that was left as it is when the step ran with finite values in the place of the bad ones."""
    if any(t.suspect == _DATA and t.helps for t in case.trials):
        yield RuledOut(
            suspect="layers, activations, attention mask, loss function, precision",
            how="with these values alone replaced, and nothing else changed, the step is finite",
        )


def growth_text(growth: Growth) -> str:
    """`4.weight` grew 4.1e+08-fold over the last 29 steps, from 0.633 to 2.58e+08"""
    first, last = growth.values[0], growth.values[-1]
    if factor(growth.values) < 2:  # too few steps to see it grow
        return f"the norm of `{growth.name}` was {number(first)} one step before, and then overflowed"
    return (
        f"the norm of `{growth.name}` grew {number(factor(growth.values))}-fold over the last "
        f"{len(growth.values)} steps, from {number(first)} to {number(last)}"
    )


def losses_text(losses: tuple[float, ...]) -> str:
    """the losses before it: 14.9, 1.72e+07, 1.85e+13"""
    return "the losses before it: " + ", ".join(number(v) for v in losses[-6:])
