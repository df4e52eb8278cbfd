"""Two names for one model: what should be a copy that stands still moves with the original."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SecondName, StateLoaded
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_LEAST_LOADS = 2


class CopyIsTheOriginal(Rule):
    """A target network, a teacher or an old policy that stands for the very model that is being trained."""

    code = "WIR063"
    name = "copy-is-the-original"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "the weights are loaded from themselves, or one step calls the model by both names"
    needs = ()
    folds = ("exploding-weights",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        told = list(self._loaded_into_itself(run))
        yield from told or map(self._called_twice, run.all(SecondName))

    def _called_twice(self, seen: SecondName) -> Diagnosis:
        where = seen.where or seen.called
        return self.diagnose(
            headline=f"`{seen.copy}` and `{seen.original}` are the same model, not a copy and its original",
            confidence="likely",
            step=seen.step,
            where=where,
            label="gives the model a second name" if seen.where else "calls the model that is being trained",
            also=also((seen.called, "calls the model that is being trained"), where=where),
            culprit=Culprit(op="=", tensor=seen.copy),
            evidence=(
                f"`{seen.copy}` and `{seen.original}` stand for one and the same object",
                f"`{seen.copy}` changes with every step of the optimizer, instead of standing still in between",
            ),
            remedies=(Remedy(title=f"make a copy: `copy.deepcopy({seen.original})`"),),
        )

    def _loaded_into_itself(self, run: Run) -> Iterator[Diagnosis]:
        by_line: dict[tuple[str, tuple[str, str]], list[StateLoaded]] = {}
        for seen in run.all(StateLoaded):
            if seen.between and seen.between[0] != seen.between[1] and seen.own == seen.given >= 2:
                by_line.setdefault((str(seen.where), seen.between), []).append(seen)
        for (_, (taker, giver)), loads in by_line.items():
            if len({seen.step for seen in loads}) < _LEAST_LOADS:
                continue
            first = loads[0]
            where = first.aliased or first.where
            yield self.diagnose(
                headline=f"`{taker}` and `{giver}` are the same model, not a copy and its original",
                confidence="proven",
                step=first.step,
                where=where,
                label="gives the model a second name" if first.aliased else "loads the model's own weights",
                also=also((first.where, "loads a model's weights into itself"), where=where),
                culprit=Culprit(op="load_state_dict", module=first.model, tensor=taker),
                evidence=(
                    f"all {first.given} tensors of `{giver}` are the memory of `{taker}`, each of the {len(loads)} "
                    "times that its weights were loaded",
                    f"`{taker}` changes with every step of the optimizer, instead of standing still in between",
                ),
                remedies=(Remedy(title=f"make a copy: `copy.deepcopy({giver})`"),),
            )
