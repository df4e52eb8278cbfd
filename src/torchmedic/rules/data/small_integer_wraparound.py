"""8-bit arithmetic: 155 - 157 is 254."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, WrappedArithmetic
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class SmallIntegerWraparound(Rule):
    """A sum, difference or product of small integers does not fit their type."""

    code = "DAT004"
    name = "small-integer-wraparound"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "the operands are uint8 (or another small integer type) and the true result lies outside it"
    needs = (WrappedArithmetic,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(WrappedArithmetic):
            first, second, result = seen.example
            target = f" in `{seen.target}`" if seen.target else ""
            cast = ".float()" if seen.library == "torch" else ".astype(np.float32)"
            yield self.diagnose(
                headline=f"{seen.dtype} wraps around{target}: {first} {seen.operator} {second} gives {result}",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                mark=seen.expression,
                label=f"{seen.share:.0%} of the results do not fit {seen.dtype}",
                culprit=Culprit(op=seen.operator, phase="data", tensor=seen.target or seen.expression),
                evidence=(
                    f"`{seen.names[0]}` and `{seen.names[1]}` are {seen.dtype}, and so is `{seen.expression}`; "
                    f"{seen.library} says nothing when a value leaves the type",
                ),
                remedies=(
                    Remedy(title=f"convert before the arithmetic: `{seen.names[0]}{cast}`, likewise `{seen.names[1]}`"),
                ),
            )
