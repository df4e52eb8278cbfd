"""A few samples of another length or shape among samples of one."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, Place, places, share

_MOSTLY = 0.9


class RaggedLengths(DataRule):
    """Where lengths vary by nature, as in text, there is nothing to say."""

    code = "DAT123"
    name = "ragged-lengths"
    symptoms = (Symptom.CRASH,)
    tell_apart = "at least nine samples in ten have one length, and some do not"
    needs = (TableColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, TableColumn):
            for column in place.seen:
                lengths = column.lengths
                if lengths is None or lengths.share < _MOSTLY or column.rows < 10:
                    continue
                odd = round((1 - lengths.share) * column.rows)
                if lengths.shape:
                    yield self._shapes(place, column, odd)
                    continue
                yield self.report(
                    place,
                    (
                        f"{odd:,} of {column.rows:,} lists in `{column.column}` are not {lengths.common:,} long",
                        f"{odd:,} of {column.rows:,} lists have another length than the rest",
                    ),
                    cells=lengths.cells,
                    evidence=[
                        f"{share(lengths.share, 1)} have length {lengths.common:,}; "
                        f"the shortest has {lengths.shortest:,}, the longest {lengths.longest:,}",
                        "`default_collate` cannot stack them: a batch with one of them raises",
                    ],
                    help=(
                        f"mend or drop {'it' if odd == 1 else f'these {odd:,}'}",
                        "or pad in a `collate_fn`: `torch.nn.utils.rnn.pad_sequence`",
                    ),
                    field=column.column,
                    rows=odd,
                )

    def _shapes(self, place: Place[TableColumn], column: TableColumn, odd: int) -> Diagnosis:
        """Arrays may differ along any axis."""
        assert column.lengths is not None
        verb = "is" if odd == 1 else "are"
        return self.report(
            place,
            (
                f"{odd:,} of {column.rows:,} samples of `{column.column}` {verb} not of shape {column.lengths.shape}",
                f"{odd:,} of {column.rows:,} samples {verb} not of the usual shape",
            ),
            cells=column.lengths.cells,
            evidence=["`default_collate` cannot stack them: a batch with one of them raises"],
            help=(
                f"mend or drop {'it' if odd == 1 else f'these {odd:,}'}",
                "or bring all to one shape in the Dataset: pad, crop or resize",
            ),
            field=column.column,
            rows=odd,
        )
