"""Numbers written with commas, signs of money or per cent become NaN under `errors="coerce"`, without a word."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import NumbersLost, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_MOST_NAMED = 4


class NumbersLostToCoercion(Rule):
    """One line makes NaN of a share of a column that a person reads as numbers."""

    code = "DAT222"
    name = "numbers-lost-to-coercion"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = '`to_numeric` with `errors="coerce"` has made NaN of texts such as 1,234.56'
    needs = (NumbersLost,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        lines: dict[str, list[NumbersLost]] = {}
        for seen in run.all(NumbersLost):
            lines.setdefault(str(seen.where), []).append(seen)
        for columns in lines.values():
            worst = max(columns, key=lambda one: one.lost / one.texts)
            example = worst.examples[0]
            yield self.diagnose(
                headline=f'{_share(worst)} of `{worst.column}` becomes NaN here, such as "{example}"',
                confidence="proven",
                step=worst.step,
                where=worst.where,
                label='`errors="coerce"` makes NaN of what `to_numeric` cannot read',
                culprit=Culprit(op="to_numeric", field=worst.column, phase="data"),
                evidence=tuple(_evidence(columns)),
                remedies=(
                    _cure(worst),
                    Remedy(title='leave `errors="coerce"` out: then `to_numeric` names the first text it cannot read'),
                ),
            )


def _share(seen: NumbersLost) -> str:
    return f"{seen.lost / seen.texts:.0%}" if seen.lost >= 0.1 * seen.texts else f"{seen.lost / seen.texts:.1%}"


def _evidence(columns: list[NumbersLost]) -> Iterator[str]:
    for seen in sorted(columns, key=lambda one: -one.lost)[:_MOST_NAMED]:
        examples = ", ".join(f'"{text}"' for text in seen.examples)
        kept = f"; the largest number that is left is {seen.highest:,.6g}" if seen.highest is not None else ""
        yield f"`{seen.column}`: {seen.lost} of {seen.texts} texts, such as {examples}{kept}"
    yield "no line of the script takes these characters out, or reads these columns again"


def _cure(seen: NumbersLost) -> Remedy:
    grouped = "," in seen.marks and any("." in text or text.count(",") > 1 for text in seen.examples)
    if grouped or seen.marks == (",",):
        return Remedy(
            title='read the file with `thousands=","`, or with `decimal=","` where a comma begins the fraction'
        )
    taken = "".join(seen.marks)
    return Remedy(title=f'take "{taken}" out first: `.str.replace(…, "")`')
