"""A checkpoint lacks weights that were trained: the model that loads it is evaluated with other values there."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TrainedNotSaved
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted, listed


class TrainedWeightsNotSaved(Rule):
    """What picks the weights to be saved goes by names, and leaves out a part that an optimizer has trained."""

    code = "WIR271"
    name = "trained-weights-not-saved"
    symptoms = (Symptom.CHECKPOINT_DIFFERS, Symptom.SCORE_LOW)
    tell_apart = "parameters that the optimizer trained are not among the keys of the checkpoint"
    needs = (TrainedNotSaved,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = run.first(TrainedNotSaved)
        if seen is None:
            return
        where = seen.saved or seen.loaded
        yield self.diagnose(
            headline=f"{listed(seen.names, 2)} {'was' if seen.left == 1 else 'were'} trained and not saved",
            confidence="proven",
            step=seen.step,
            where=where,
            label=f"keeps {counted(seen.given, 'tensor')}, and leaves out what was trained beside",
            also=also(
                (seen.loaded, f"`{seen.model}` loads them, and says nothing of the missing ones"),
                (seen.evaluated, "evaluated with the values of a new model"),
                where=where,
            ),
            culprit=Culprit(op="state_dict", module=seen.model, parameter=seen.names[0]),
            evidence=(
                f"an optimizer trained {counted(seen.left, 'parameter')} that the checkpoint lacks; the model that "
                "loaded it has other values there when it is evaluated",
            ),
            remedies=(
                Remedy(title="save `model.state_dict()` as a whole, or all parameters with `requires_grad`"),
                Remedy(title="look at the `missing_keys` that `load_state_dict(strict=False)` returns"),
            ),
        )
