"""What the rules about data on the disk share: one diagnosis for a place, the cells that show it, counted words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from torchmedic.facts import Cell, Location, Observation, Run
from torchmedic.findings import Also, Confidence, Culprit, Diagnosis, Remedy, Rule, Severity
from torchmedic.rules.numerics._reading import fitted

SeenT = TypeVar("SeenT", bound=Observation)


@dataclass
class Place(Generic[SeenT]):
    """What was seen at one place: of one source, or by one line of a script."""

    asked: Location | None
    source: str
    seen: list[SeenT] = field(default_factory=list)


def places(run: Run, kind: type[SeenT]) -> Iterator[Place[SeenT]]:
    """The facts of a kind, by the line that asked for them, else by their source."""
    found: dict[object, Place[SeenT]] = {}
    for fact in run.all(kind):
        asked, source = getattr(fact, "asked", None), getattr(fact, "source", "")
        found.setdefault(asked or source, Place(asked, source)).seen.append(fact)
    yield from found.values()


class DataRule(Rule):
    """A rule about data that was looked at without a training."""

    severity: ClassVar[Severity] = "warning"
    tells_each = True

    def report(
        self,
        place: Place[Any],
        headline: str | Sequence[str],
        *,
        evidence: Iterable[str] = (),
        help: Iterable[str],
        cells: Sequence[Cell] = (),
        label: str = "",
        confidence: Confidence = "proven",
        severity: str = "",
        **culprit: Any,
    ) -> Diagnosis:
        """A diagnosis that points at the line which asked, or at the first cell that shows it."""
        texts = [headline] if isinstance(headline, str) else headline
        shown = next((cell for cell in cells if cell.line), None) or next((cell for cell in cells if cell.file), None)
        at = _location(shown) if shown is not None else Location(file=place.source, line=0) if place.source else None
        also = (Also(location=at, why=label or "the first"),) if place.asked and at and at.line else ()
        listed = [f"for example {', '.join(said(cell) for cell in cells[:4])}"] if cells else []
        return self.diagnose(
            headline=fitted(*texts),
            confidence=confidence,
            severity=severity or self.severity,
            where=place.asked or at,
            mark=_mark(shown) if shown is not None and not place.asked else "",
            label="" if place.asked else label,
            also=also,
            culprit=Culprit(phase="data", examples=tuple(str(cell) for cell in cells), **culprit),
            evidence=(*evidence, *listed),
            remedies=tuple(Remedy(title=title) for title in help),
        )


def _mark(cell: Cell) -> str:
    """The cell's text, unless its line holds that text twice: carets under the wrong one would mislead."""
    return cell.text if cell.source.count(cell.text) == 1 else ""


def _location(cell: Cell) -> Location:
    return Location(file=cell.file, line=cell.line or 0, source=cell.source)


def said(cell: Cell) -> str:
    """A cell in a sentence: `labs.csv:151` (`<0.5`)."""
    named = f"{cell.file}:{cell.line}" if cell.line else cell.file
    row = f"row {cell.row}" if cell.row is not None and not cell.line else ""
    place = " ".join(part for part in (f"`{named}`" if named else "", row) if part)
    text = f"`{cell.text.replace('`', '')}`" if cell.text else ""
    return f"{place} ({text})" if place and text else place or text


def listed(names: Sequence[str], most: int = 4) -> str:
    """`a`, `b` and 3 more.

    >>> listed(["a", "b", "c"], most=2)
    '`a`, `b` and 1 more'
    """
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def many(count: int, thing: str) -> str:
    """1 row, 2 rows, 3 classes.

    >>> many(1, "row"), many(2000, "class")
    ('1 row', '2,000 classes')
    """
    ending = "" if count == 1 else "es" if thing.endswith(("s", "x")) else "s"
    return f"{count:,} {thing}{ending}"


def share(part: float, whole: float) -> str:
    """A share in per cent with few digits.

    >>> share(1, 3), share(1, 30000), share(498, 500)
    ('33 %', '0.0033 %', '99.6 %')
    """
    percent = 100 * part / whole if whole else 0.0
    if 99.5 <= percent < 100:
        return f"{100 - float(f'{100 - percent:.2g}'):.4g} %"
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"
