"""Two weights in a row that are both 0: each waits for the other to leave it, and neither ever learns."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run
from torchmedic.facts import ZeroTimesZero as Zeros
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted, short


class ZeroTimesZero(Rule):
    """A gradient comes to the product of two zeros, and goes no further."""

    code = "WIR211"
    name = "zero-times-zero"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "two weights in a row are exactly 0, and so is the gradient of both"
    needs = (Zeros,)
    folds = ("TRN", "answers-unrelated-to-targets", "identical-units")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = run.first(Zeros)
        if seen is None:
            return
        first, second = (short(name) for name in seen.names)
        zeroed, other = seen.zeroed
        where = zeroed or other
        both = zeroed is not None and zeroed == other
        yield self.diagnose(
            headline=f"`{first}` and `{second}` are both 0: neither can ever learn",
            confidence="proven",
            step=seen.step,
            where=where,
            label="makes both of them 0" if both else f"`{first if zeroed is not None else second}` is made 0",
            also=also((other, f"`{second}` is made 0 as well"), where=where),
            culprit=Culprit(parameter=seen.names[0], phase="setup"),
            evidence=(
                f"`{second}` multiplies what comes out of `{first}`: 0 times 0, and the gradient of each is the other "
                f"one times something",
                f"in {seen.looks} steps looked at a gradient came to their product, and the gradients of both were "
                f"exactly 0",
                *((f"so it is with {counted(seen.pairs, 'pair')} in all",) if seen.pairs > 1 else ()),
            ),
            remedies=(
                Remedy(title="make one of the two 0 at most: the product begins at 0 all the same"),
                Remedy(title=f"draw `{first}` at random, for instance with `nn.init.kaiming_uniform_`"),
            ),
        )
