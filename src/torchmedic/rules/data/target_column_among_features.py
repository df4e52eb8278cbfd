"""The column to be predicted was left among the columns that the model is given."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TableTaken, TargetColumn
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_LEAST_STEPS = 2


class TargetColumnAmongFeatures(Rule):
    """A table was turned into inputs with the column that the targets were taken from."""

    code = "DAT221"
    name = "target-column-among-features"
    symptoms = (Symptom.SCORE_TOO_GOOD, Symptom.LOSS_ZERO)
    tell_apart = (
        "a column of the inputs and the target have the same name, and rise and fall together to the last digit"
    )
    needs = (TargetColumn, TableTaken)
    folds = ("target-among-inputs",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        tables = list(run.all(TableTaken))
        found: dict[tuple[int, int], list[TargetColumn]] = {}
        for seen in run.all(TargetColumn):
            found.setdefault((seen.position, seen.columns), []).append(seen)
        for (position, columns), seen_in in found.items():
            wholes = [table for table in tables if len(table.columns) == columns]
            own = next((table for table in wholes if _is_taken_alone(table.columns[position], tables)), None)
            if own is not None and len({seen.step for seen in seen_in}) >= _LEAST_STEPS:
                yield self._diagnosis(own, seen_in, own.columns[position], tables)
                return

    def _diagnosis(
        self, whole: TableTaken, found: list[TargetColumn], name: str, tables: list[TableTaken]
    ) -> Diagnosis:
        alone = next(table for table in tables if table.columns == (name,))
        where = whole.chosen or whole.where
        return self.diagnose(
            headline=f"the target `{name}` is one of the {len(whole.columns)} columns that the model is given",
            confidence="proven",
            where=where,
            label=f"`{name}` is among these columns",
            also=also((whole.where, "the inputs"), (alone.where, "the targets"), where=where),
            culprit=Culprit(phase="data", field=name, tensor="target", index=(found[0].position,)),
            evidence=(
                f"in {len(found)} steps looked at, column {found[0].position} of the inputs was the target of all "
                f"{found[0].samples} samples, but for a shift and a factor",
                "the model has only to copy it, and will not have it when it is used",
            ),
            remedies=(Remedy(title=f'leave `{name}` out: `table.drop(columns=["{name}"])`'),),
        )


def _is_taken_alone(name: str, tables: list[TableTaken]) -> bool:
    return any(table.columns == (name,) for table in tables)
