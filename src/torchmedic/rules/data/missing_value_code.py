"""A number that stands for "missing" in a file, and is read as a number."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import MissingCode, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.data._columns import far_input

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
        is_fed = far_input(run) is not None
        codes = (one for one in run.all(MissingCode) if one.seen == "read" or is_fed)
        seen = max(codes, key=lambda one: sum(one.shares), default=None)
        if seen is None or seen.where is None:
            return
        worst = max(zip(seen.shares, seen.columns, strict=True))
        used = "read" if seen.seen == "read" else "used"
        yield self.diagnose(
            headline=f"{seen.value:g} stands for missing values in `{worst[1]}`, and is {used} as a number",
            confidence="likely",
            step=seen.step,
            where=seen.where,
            label=_label(seen),
            culprit=Culprit(field=worst[1], phase="data"),
            evidence=(
                f"{seen.value:g} fills {', '.join(_shares(seen)[:_MOST_NAMED])}",
                "it lies far from all other values of these columns, and nothing in the script compares or replaces it",
                "`dropna` and `fillna` do not see it; means, spreads and losses are drawn towards it",
            ),
            remedies=(
                Remedy(title=f"read it as missing: `na_values=[{seen.value:g}]`"),
                Remedy(title=f"or replace it before anything is computed: `.replace({seen.value:g}, float('nan'))`"),
            )
            if seen.seen == "read"
            else (Remedy(title=f"replace it before this line: `.replace({seen.value:g}, float('nan'))`"),),
        )


def _label(seen: MissingCode) -> str:
    if seen.seen == "read":
        return f"`{seen.path}` is read here" if seen.path else "the table is read here"
    if seen.seen == "made":
        return f"`{seen.table}` is made here, with that number in it"
    return "a spread over that number" if seen.seen == "std" else f"`{seen.seen}` looks for NaN, and leaves that number"


def _shares(seen: MissingCode) -> list[str]:
    return [f"{share:.1%} of `{name}`" for share, name in zip(seen.shares, seen.columns, strict=True)]
