"""A target that is the same number in every batch: there is nothing to learn, and the loss goes to 0."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ConstantTargets, LoaderSeen, Location, LossCall, Run, WholeTargets
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import CLASS_LOSSES, always, seen

_DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_LEAST_TIMES = 4
_LEAST_VALUES = 16
_BEFORE_CAST = "look at the values before the cast: fractions below 1 become 0"
_CASTS = (".long()", "LongTensor", "astype(int", "astype(np.int", ".int()", "int64", "IntTensor", "torch.long")


class ConstantTarget(Rule):
    """What the loss compares with has one value in all steps looked at, though it is taken from the data each time."""

    code = "LOS017"
    name = "constant-target"
    severity = "warning"
    symptoms = (Symptom.LOSS_ZERO, Symptom.SCORE_TOO_GOOD)
    tell_apart = "every target that was looked at, in several steps, is the same number"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, (*_DISTANCES, *CLASS_LOSSES), _is_constant):
            values = {c.target.minimum for c in run.all(LossCall) if c.where == call.where}
            several_classes = call.function not in CLASS_LOSSES or call.given.shape[call.class_dim] > 1
            if times < _LEAST_TIMES or len(values) > 1 or not several_classes or not _is_data(run, call):
                continue
            handed = _handed_out(run, call)
            made = _line_to_edit(run, handed, call) if handed is not None else None
            cast = made is not None and any(sign in made.source for sign in _CASTS)
            yield self.diagnose(
                headline=f"the target `{call.names[1]}` is {call.target.minimum:g} in every sample looked at",
                confidence="proven",
                step=call.step,
                where=made or call.where,
                label="nothing to learn here",
                also=(Also(location=call.where, why="the loss compares with it here"),) if made and call.where else (),
                culprit=Culprit(op=call.function, phase="data", tensor=call.names[1]),
                evidence=(
                    f"so it was in {seen(times)}, with {call.target.numel} values each",
                    *(("the line that makes them casts to whole numbers",) if cast else ()),
                    "one constant answer is right for all of them, so that the loss falls to 0",
                ),
                remedies=(
                    *((Remedy(title=_BEFORE_CAST),) if cast else ()),
                    Remedy(
                        title=f"look at how `{call.names[1]}` is made: the column, the filter, or the generated data"
                    ),
                ),
            )


def _line_to_edit(run: Run, handed: ConstantTargets, call: LossCall) -> Location | None:
    """The line that makes the targets; where a distance is measured to them, the one that cut them to whole numbers."""
    cut = [seen.cast for seen in run.all(WholeTargets) if seen.built == handed.built and call.function in _DISTANCES]
    return next(iter(cut), handed.made)


def _is_constant(call: LossCall) -> bool:
    low, high = call.target.minimum, call.target.maximum
    return low is not None and low == high and call.target.numel >= _LEAST_VALUES


def _handed_out(run: Run, call: LossCall) -> ConstantTargets | None:
    """The one loader that was trained on, where all targets of its first pass were this number.

    It may be built anew for every epoch, by one line.
    """
    found = list(run.all(ConstantTargets))
    trained = [one for one in run.all(LoaderSeen) if one.trained]
    fitting = [one for one in found if one.trained and one.value == call.target.minimum and one.samples >= 64]
    return fitting[0] if fitting and len({one.built for one in trained}) == 1 else None


def _is_data(run: Run, call: LossCall) -> bool:
    """Taken from the data, not written down as a constant (labels of a GAN, the right side of an equation)."""
    if _handed_out(run, call) is not None:
        return True
    if call.target_picked or call.target_producer is not None:
        return call.target_picked
    loaders = [one for one in run.all(LoaderSeen) if one.trained]
    return bool(loaders) and all(one.labels == 1 and one.samples >= 64 for one in loaders)
