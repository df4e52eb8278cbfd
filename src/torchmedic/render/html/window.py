"""The code window of a diagnosis: the guilty line among its neighbours, cut where the mark begins and ends."""

from __future__ import annotations

from dataclasses import dataclass

from torchmedic.facts import Location
from torchmedic.render.text import marked

_AROUND = 3


@dataclass(frozen=True, kw_only=True)
class CodeLine:
    """A line of source in three parts: before the mark, the marked text, after it."""

    number: int
    before: str
    marked: str = ""
    after: str = ""
    is_guilty: bool = False


@dataclass(frozen=True, kw_only=True)
class Window:
    """A place with the lines around it, as far as they are known."""

    where: Location
    label: str
    lines: tuple[CodeLine, ...]

    @property
    def function(self) -> str:
        return "" if self.where.function == "<module>" else self.where.function


def window(where: Location, mark: str, label: str, sources: dict[str, tuple[str, ...]]) -> Window:
    """The window at a place. Neighbours are shown only if the file still holds the line that was seen."""
    source = where.source.rstrip()
    if not source.strip():
        return Window(where=where, label=label, lines=())
    start, length = marked(source, mark)
    guilty = CodeLine(
        number=where.line,
        before=source[:start],
        marked=source[start : start + length],
        after=source[start + length :],
        is_guilty=True,
    )
    lines = sources.get(where.file, ())
    if not 0 < where.line <= len(lines) or lines[where.line - 1].strip() != source.strip():
        return Window(where=where, label=label, lines=(guilty,))
    first = max(1, where.line - _AROUND)
    above = [CodeLine(number=n, before=lines[n - 1].rstrip()) for n in range(first, where.line)]
    below = [
        CodeLine(number=n, before=lines[n - 1].rstrip())
        for n in range(where.line + 1, where.line + _AROUND + 1)
        if n <= len(lines)
    ]
    return Window(where=where, label=label, lines=(*_trimmed(above), guilty, *_trimmed(below[::-1])[::-1]))


def _trimmed(lines: list[CodeLine]) -> list[CodeLine]:
    """Without empty lines at the beginning."""
    while lines and not lines[0].before:
        lines = lines[1:]
    return lines
