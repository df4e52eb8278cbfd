"""Data as tables with small pictures: the columns of a data set, the fields of a batch, the rows that went wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from markupsafe import Markup

from torchmedic.facts import (
    BatchField,
    ColumnHistogram,
    DataSource,
    Histogram,
    LabelColumn,
    Origin,
    Run,
    Source,
    TableColumn,
)
from torchmedic.render.html.numbers import short
from torchmedic.render.html.shares import MOST_BARS, Bar
from torchmedic.render.html.text import say

_MOST_COLUMNS = 60
_MOST_CELLS = 5
_HEIGHT = 40


@dataclass(frozen=True, kw_only=True)
class ColumnView:
    """One row of the table of columns."""

    name: str
    type: str
    missing: str = ""
    strange: str = ""
    low: str = ""
    mean: str = ""
    high: str = ""
    picture: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DataView:
    """One data set: its columns, those with trouble first, and how its labels are spread."""

    summary: str
    columns: list[ColumnView]
    labels: list[Bar] = field(default_factory=list)

    def has(self, name: str) -> bool:
        """Whether any row has something in a column of the table."""
        return any(getattr(column, name) for column in self.columns)


def data_views(run: Run) -> list[DataView]:
    """What went wrong first, then each data set that was looked at, then what the loaders handed out."""
    origin = run.first(Origin)
    guilty = [_guilty(origin.source)] if origin is not None and origin.source is not None else []
    return [*guilty, *(_data_set(source, run) for source in run.all(DataSource)), *_batches(run)]


def _guilty(source: Source) -> DataView:
    strange = [(source.tensor.nan or 0, "NaN"), (source.tensor.inf or 0, "∞")]
    column = ColumnView(
        name=source.name,
        type=str(source.tensor),
        strange=", ".join(f"{count} {name}" for count, name in strange if count),
        low=_told(source.tensor.minimum),
        high=_told(source.tensor.maximum),
        picture=picture(source.histogram),
        examples=source.examples,
    )
    return DataView(summary=say("data_guilty", name=source.name), columns=[column])


def _batches(run: Run) -> Iterator[DataView]:
    fields = list(run.all(BatchField))
    for loader in dict.fromkeys(seen.loader for seen in fields):
        columns = [_field(seen) for seen in fields if seen.loader == loader]
        yield DataView(summary=say("data_batch", loader=loader), columns=columns)


def _field(seen: BatchField) -> ColumnView:
    strange = [(seen.nan, "NaN"), (seen.inf, "∞")]
    return ColumnView(
        name=seen.field,
        type=f"{seen.dtype}[{', '.join(map(str, seen.shape))}]",
        strange=", ".join(f"{count} {name}" for count, name in strange if count),
        low=_told(seen.minimum),
        mean=_told(seen.mean),
        high=_told(seen.maximum),
        picture=picture(seen.histogram),
        examples=seen.rows,
    )


def _data_set(source: DataSource, run: Run) -> DataView:
    columns = [column for column in run.all(TableColumn) if column.source == source.source]
    columns.sort(key=lambda column: not _is_strange(column))
    spreads = {seen.column: seen.histogram for seen in run.all(ColumnHistogram) if seen.source == source.source}
    labels = next((label for label in run.all(LabelColumn) if label.source == source.source), None)
    most = max((count for _, count in labels.classes), default=1) if labels is not None else 1
    return DataView(
        summary=say("data_summary", source=source.source, rows=f"{source.rows or 0:,}", columns=source.columns or 0),
        columns=[_column(column, spreads.get(column.column)) for column in columns[:_MOST_COLUMNS]],
        labels=[
            Bar(name=str(value), said=f"{count:,}", share=100 * count / most)
            for value, count in (labels.classes[-MOST_BARS:] if labels is not None else ())
        ],
    )


def _is_strange(column: TableColumn) -> bool:
    return bool(column.nan or column.inf or column.constant is not None or column.texts or column.outliers)


def _column(column: TableColumn, spread: Histogram | None) -> ColumnView:
    strange = [(column.nan, "NaN"), (column.inf, "∞"), (column.texts.count if column.texts else 0, say("data_text"))]
    told = [f"{count} {name}" for count, name in strange if count]
    if column.constant is not None:
        told.append(say("data_constant", value=column.constant))
    if column.outliers is not None:
        told.append(say("data_outliers", count=column.outliers.count))
    return ColumnView(
        name=column.column,
        type=column.type,
        missing=f"{100 * column.nulls / column.rows:.1f} %" if column.nulls and column.rows else "",
        strange=", ".join(told),
        low=_told(column.minimum),
        mean=_told(column.mean),
        high=_told(column.maximum),
        picture=picture(spread),
        examples=tuple(str(cell) for cell in column.cells[:_MOST_CELLS]),
    )


def picture(spread: Histogram | None) -> Markup:
    """The spread as bars beside each other, with its ends below; values farther out are told in words."""
    if spread is None or not any(spread.counts):
        return Markup("")
    most, count = max(spread.counts), len(spread.counts)
    bars = "".join(f"M{at} {_HEIGHT}v-{_tall(n, most):.1f}h.9V{_HEIGHT}z" for at, n in enumerate(spread.counts) if n)
    told = say("data_spread", low=short(spread.low), high=short(spread.high))
    beyond = say("data_beyond", below=spread.below, above=spread.above) if spread.below or spread.above else ""
    return Markup(
        '<span class="spread"><svg role="img" aria-label="{told}" viewBox="0 0 {count} {height}" '
        'preserveAspectRatio="none"><path d="{bars}"/></svg><span class="ends-of" aria-hidden="true"><span>{low}</span>'
        "<span>{high}</span></span>{beyond}</span>"
    ).format(
        told=told,
        count=count,
        height=_HEIGHT,
        bars=bars,
        low=short(spread.low),
        high=short(spread.high),
        beyond=Markup("<small>{}</small>").format(beyond) if beyond else "",
    )


def _tall(count: int, most: int) -> float:
    """A bin with a single value is still seen."""
    return max(1.5, _HEIGHT * count / most)


def _told(value: float | None) -> str:
    return "" if value is None else short(value)
