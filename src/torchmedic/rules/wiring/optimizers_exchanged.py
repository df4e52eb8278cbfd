"""Two optimizers that hold each other's parameters: every `backward` fills what the other one steps on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from torchmedic.facts import GradientCycles, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class OptimizersExchanged(Rule):
    """What one optimizer steps on is filled between the `zero_grad` and the `step` of the other, and the reverse."""

    code = "WIR141"
    name = "optimizers-exchanged"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT)
    tell_apart = "two optimizers step without gradients, and each `backward` fills the parameters of the other one"
    needs = (GradientCycles,)
    folds = ("TRN", "gradients-cleared-before-step", "detached-from-loss", "computed-without-gradient")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        idle = [seen for seen in run.all(GradientCycles) if seen.emptied >= max(3, 0.8 * seen.cycles)]
        for first, second in permutations(idle, 2):
            if not _fills_for_other(first, second) or not _fills_for_other(second, first):
                continue
            if not _is_between(first.stepped, first.stepped, second.stepped) or first.built is None:
                continue
            yield self.diagnose(
                headline="two optimizers hold each other's parameters: neither ever steps with a gradient",
                confidence="proven",
                where=first.built,
                label="is given the parameters that the other one is meant to train",
                also=also(
                    (second.built, "and this one those of the first"),
                    (second.backward, "fills the second one's parameters, then the first one steps"),
                    where=first.built,
                ),
                culprit=Culprit(op=first.optimizer, phase="setup"),
                evidence=(*_crossing(first, second), *_crossing(second, first)),
                remedies=(Remedy(title="exchange the parameters that the two optimizers are built with"),),
            )
            return


def _fills_for_other(one: GradientCycles, other: GradientCycles) -> bool:
    """Whether the gradients of the other are computed between the `zero_grad` and the `step` of this one."""
    return one.built != other.built and _is_between(one.zero_grad, other.backward, one.stepped)


def _is_between(start: Location | None, place: Location | None, end: Location | None) -> bool:
    """In the order of the lines of one function."""
    if start is None or place is None or end is None:
        return False
    together = len({(at.file, at.function) for at in (start, place, end)}) == 1
    return together and start.line <= place.line < end.line


def _crossing(one: GradientCycles, other: GradientCycles) -> Iterator[str]:
    if one.zero_grad and one.stepped and other.backward and other.built:
        yield (
            f"`backward` in line {other.backward.line}, between `zero_grad` in line {one.zero_grad.line} and `step` in "
            f"line {one.stepped.line}, fills the parameters of the `{other.optimizer}` built in line {other.built.line}"
        )
