"""A number that stands for "missing" in a file, and is read as a number."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import MissingCode, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_MOST_NAMED = 4


class MissingValueCode(Rule):
    """The same far-off number fills a share of a column, and nothing in the script knows of it."""

    code = "DAT061"
    name = "missing-value-code"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "one number, such as -999, is repeated at the end of a column, far from all others"
    needs = (MissingCode,)
    folds = ("missing-code-in-input",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = max(run.all(MissingCode), key=lambda one: sum(one.shares), default=None)
        if seen is None or seen.where is None:
            return
        worst = max(zip(seen.shares, seen.columns, strict=True))
        table = f"`{seen.path}`" if seen.path else "the table"
        yield self.diagnose(
            headline=f"{seen.value:g} stands for missing values in `{worst[1]}`, and is read as a number",
            confidence="likely",
            step=seen.step,
            where=seen.where,
            label=f"{table} is read here",
            culprit=Culprit(field=worst[1], phase="data"),
            evidence=(
                f"{seen.value:g} fills {', '.join(_shares(seen)[:_MOST_NAMED])}",
                "it lies far from all other values of these columns, and nothing in the script compares or replaces it",
                "`dropna` and `fillna` do not see it; means, spreads and losses are drawn towards it",
            ),
            remedies=(
                Remedy(title=f"read it as missing: `na_values=[{seen.value:g}]`"),
                Remedy(title=f"or replace it before anything is computed: `.replace({seen.value:g}, float('nan'))`"),
            ),
        )


def _shares(seen: MissingCode) -> list[str]:
    return [f"{share:.1%} of `{name}`" for share, name in zip(seen.shares, seen.columns, strict=True)]
