"""A module sets itself up by its first batch, and forgets over a checkpoint that it has done so."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FlagNotKept, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, listed

_MOST_NAMES = 3


class SetupRepeatedAfterLoad(Rule):
    """Loaded values were overwritten by the first batch: the flag that forbids it is a plain attribute."""

    code = "WIR260"
    name = "setup-repeated-after-load"
    symptoms = (Symptom.CHECKPOINT_DIFFERS, Symptom.SCORE_LOW)
    tell_apart = "the score is bad right after the load, and the first batch after it changes parameters"
    needs = (FlagNotKept,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(FlagNotKept):
            names = listed(seen.changed, _MOST_NAMES)
            where = seen.set_at or seen.guard
            yield self.diagnose(
                headline=f"`{seen.module}` overwrote loaded values: `{seen.flag}` is in no state dict",
                confidence="proven",
                step=seen.step,
                where=where,
                mark=f"self.{seen.flag}",
                label="a plain attribute: a new object begins with this again",
                also=also(
                    (seen.guard, "runs again at the first call after a load"),
                    (seen.loaded_at, "loaded here"),
                    where=where,
                ),
                culprit=Culprit(module=seen.module, parameter=seen.changed[0], op=seen.flag, phase="forward"),
                evidence=(
                    f"`self.{seen.flag}` said no after `load_state_dict` and yes after the first call, which changed "
                    f"{names}; no optimizer had made a step in between",
                ),
                remedies=(
                    Remedy(
                        title=f"make it a buffer, which is saved and loaded, and set it in place: "
                        f'`register_buffer("{seen.flag}", torch.tensor(False))`, `self.{seen.flag}.fill_(True)`'
                    ),
                ),
            )
