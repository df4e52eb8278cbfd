"""An Adam that goes on with squared averages rounded to 0: its first updates after a resume are far too big."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LostMoments, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_SHARE = 0.001
# An average divided by `eps` alone; a healthy update is about 1 learning rate.
_LEAST_UPDATE = 10.0


class SecondMomentsLost(Rule):
    """What divides the update is 0 where the update is not."""

    code = "NUM042"
    name = "second-moments-lost"
    symptoms = (Symptom.CHECKPOINT_DIFFERS, Symptom.LOSS_NOISY, Symptom.LOSS_NAN)
    tell_apart = "the loss leaps at the first steps after the optimizer's state was loaded, and falls again later"
    needs = (LostMoments,)
    folds = ("TRN", "exploding-weights", "exploding-activations")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(LostMoments):
            update = seen.largest / seen.eps if seen.eps > 0 else float("inf")
            if seen.lost < _LEAST_SHARE * seen.moved or update < _LEAST_UPDATE:
                continue
            yield self.diagnose(
                headline=f"`{seen.optimizer}` was given an `{seen.entry}` of 0 beside an `exp_avg` that is not, in "
                f"{seen.lost / seen.moved:.0%} of entries",
                confidence="proven",
                step=seen.step,
                where=seen.loaded,
                label=f"`{seen.entry}` is 0 here, and `exp_avg` is not",
                culprit=Culprit(op="load_state_dict", tensor=seen.entry, parameter=seen.parameter or None),
                evidence=(
                    f"{seen.lost} of {seen.moved} entries with an `exp_avg` have an `{seen.entry}` of 0; a training "
                    "in float32 leaves none",
                    f"`{seen.optimizer}` divides by the root of `{seen.entry}` and an eps of {seen.eps:g}: an "
                    f"`exp_avg` of {seen.largest:.2g} becomes an update of up to {update:.2g} learning rates",
                    *_of_type(seen),
                ),
                remedies=(
                    Remedy(title="save the state of the optimizer in float32, without `.half()`"),
                    Remedy(title="from the file as it is: do not load the optimizer's state, and warm up instead"),
                ),
            )
            return


def _of_type(seen: LostMoments) -> tuple[str, ...]:
    if seen.entry_type != "float16":
        return ()
    return (f"`{seen.entry}` came as float16, where what is below 3e-08 becomes 0: the square of a gradient of 2e-04",)
