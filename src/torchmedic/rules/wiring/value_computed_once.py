"""A value computed from parameters once, before the steps that train them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ReusedGraph, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted, listed, short


class ValueComputedOnce(Rule):
    """The loss of every step runs into a graph that was built before the first one: the value in it never changes."""

    code = "WIR060"
    name = "value-computed-once"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT, Symptom.CHECKPOINT_DIFFERS)
    tell_apart = "the loss of several steps runs into the same old graph, which `retain_graph=True` keeps alive"
    needs = (ReusedGraph,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(ReusedGraph):
            behind = f"`{short(seen.parameters[0])}`" if seen.parameters else "what it is made of"
            yield self.diagnose(
                headline=f"`{short(seen.name)}` was computed once: training {behind} does not change it",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                label="computed here, outside the step",
                also=also((seen.backward, "`backward` runs into the old graph here"), where=seen.where),
                culprit=Culprit(tensor=seen.name, op=seen.operation, phase="forward", parameter=_first(seen)),
                evidence=tuple(_evidence(seen)),
                remedies=(
                    Remedy(title=f"compute `{seen.name}` inside the step, from the parameters as they are then"),
                    Remedy(title=f"or `.detach()` `{seen.name}`, if it is to stay as it is"),
                ),
            )


def _first(seen: ReusedGraph) -> str | None:
    return seen.parameters[0] if seen.parameters else None


def _evidence(seen: ReusedGraph) -> Iterator[str]:
    yield (
        f"up to step {seen.step} every loss ran into the same `{seen.operation}` {list(seen.shape)}, "
        f"made before the first step was over"
    )
    named = f": {listed(seen.parameters)}" if seen.parameters else ""
    count = counted(seen.parameter_count, "parameter")
    yield f"{count} behind it got gradients and updates that change no result{named}"
    yield "`retain_graph=True` is no cure: it keeps the old graph alive and hides that the value is old"
