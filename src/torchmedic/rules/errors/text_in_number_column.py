"""A column of a table that is text because of some of its cells, where a tensor of numbers was to be made."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run, TextColumn
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, user_line


class TextInNumberColumn(Rule):
    """A table was read, a few cells spell no number, and the whole column became text."""

    code = "ERR277"
    name = "text-in-number-column"
    symptoms = (Symptom.CRASH,)
    tell_apart = (
        "the message complains of `numpy.object_`, or of a string that is no float, and a table has such a column"
    )
    needs = (Crash, TextColumn)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash, seen = crash_in(run), run.last(TextColumn)
        line = user_line(crash) if crash is not None else None
        if crash is None or seen is None or line is None:
            return
        yield self._whole(line, seen) if seen.strange == seen.rows else self._some(line, seen)

    def _some(self, line: Location, seen: TextColumn) -> Diagnosis:
        where = seen.where or line
        few = ", ".join(f"`{word}`" for word in seen.words)
        return self.diagnose(
            headline=f"column `{seen.column}` is text: {seen.strange} of {seen.rows} cells are no numbers, "
            f"as `{seen.words[0]}`",
            confidence="proven",
            where=where,
            label=f"`{seen.column}` comes out as text here" if where is not line else "",
            also=also((line, "needs numbers"), but=where),
            culprit=Culprit(phase="data", field=seen.column, examples=seen.words),
            evidence=(
                f"cells of `{seen.column}` that spell no number: {few}"
                + (f", first in row {seen.row}" if seen.row is not None else ""),
                "one such cell makes text of the whole column, and an array of objects of the table",
            ),
            remedies=(
                Remedy(
                    title=f"say that it means a missing value: `read_csv(…, na_values=[{', '.join(seen.words)}])`",
                    detail="then fill these cells or drop their rows",
                ),
                Remedy(title=f"or convert after reading: `pd.to_numeric(table['{seen.column}'], errors='coerce')`"),
            ),
        )

    def _whole(self, line: Location, seen: TextColumn) -> Diagnosis:
        return self.diagnose(
            headline=f"column `{seen.column}` holds text, and a tensor holds numbers only",
            confidence="proven",
            where=line,
            culprit=Culprit(phase="data", field=seen.column, examples=seen.words),
            evidence=(f"its {seen.rows} cells are such as {', '.join(f'`{word}`' for word in seen.words)}",),
            remedies=(
                Remedy(title=f"leave it out: `table.drop(columns='{seen.column}')`"),
                Remedy(
                    title=f"or number its values: `pd.factorize(table['{seen.column}'])[0]`, `pd.get_dummies(table)`"
                ),
            ),
        )
