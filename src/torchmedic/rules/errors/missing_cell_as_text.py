"""A missing cell of a table, taken for a text."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, MissingCell, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, user_line


class MissingCellAsText(Rule):
    """A column of text has cells that were read as NaN, a float, and one of them is worked on as text."""

    code = "ERR069"
    name = "missing-cell-as-text"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message complains of a 'float', and the value is NaN from a column of text"
    needs = (Crash, MissingCell)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash, seen = crash_in(run), run.last(MissingCell)
        line = user_line(crash) if crash is not None else None
        if crash is None or seen is None or line is None:
            return
        missing = f"{seen.missing} of {seen.rows} cells of `{seen.column}` are missing"
        yield self.diagnose(
            headline=f"`{seen.name}` is NaN, not a text: {missing}",
            confidence="likely",
            where=seen.where,
            label=f"makes NaN of cells in `{seen.column}`",
            also=also((line, f"`{seen.name}` is used as text here"), but=seen.where),
            culprit=Culprit(phase="data", field=seen.column, tensor=seen.name),
            evidence=tuple(_evidence(seen)),
            remedies=tuple(_remedies(seen)),
        )


def _evidence(seen: MissingCell) -> Iterator[str]:
    words = ", ".join(f"`{word}`" for word in seen.words if word)
    if words:
        yield f"the file spells {words} in `{seen.column}`, which `read_csv` takes for a missing value"
    if "" in seen.words:
        yield f"the file has empty cells in `{seen.column}`"


def _remedies(seen: MissingCell) -> Iterator[Remedy]:
    if seen.words != ("",):
        yield Remedy(title="keep such words as text: `read_csv(…, keep_default_na=False)`")
    yield Remedy(title=f"or fill the column or drop its rows: `.fillna({{'{seen.column}': ''}})`, `.dropna()`")
