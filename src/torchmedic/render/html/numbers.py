"""Numbers as a person would write them down."""

from __future__ import annotations

import math
import unicodedata

_SHORT_PART = 6  # of a name: cut, it would not be much shorter


def short(value: float | None) -> str:
    """Few digits.

    >>> short(0.63270), short(12345.6), short(3.2e-9), short(None)
    ('0.6327', '1.235e+04', '3.2e-09', 'NaN')
    """
    if value is None or math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.4g}"


def size(amount: float) -> str:
    """Bytes.

    >>> size(3 << 20), size(1536)
    ('3.0 MiB', '1.5 KiB')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"


def duration(seconds: float) -> str:
    """A stretch of time.

    >>> duration(3.21), duration(75), duration(7384)
    ('3.2 s', '1 min 15 s', '2 h 3 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def cells(text: str) -> int:
    """How many columns a text takes where Chinese characters take two.

    >>> cells("ab"), cells("损失")
    (2, 4)
    """
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def wrapped(text: str, width: int, lines: int) -> list[str]:
    """A text in at most so many lines of so many columns; what does not fit ends in an ellipsis.

    >>> wrapped("p * torch.log(p)", 10, 2)
    ['p * torch.', 'log(p)']
    """
    found: list[str] = []
    rest = " ".join(text.split())
    while rest and len(found) < lines:
        head = _fitting(rest, width)
        if len(head) < len(rest) and len(found) == lines - 1:
            found.append(_fitting(rest, width - 1).rstrip() + "…")
            break
        space = head.rfind(" ")
        if len(head) < len(rest) and rest[len(head)] != " " and space > width // 3:
            head = head[:space]
        found.append(head.rstrip())
        rest = rest[len(head) :].lstrip()
    return found


def fitted(name: str, width: int) -> str:
    """A dotted name within so many characters: its long parts are cut in the middle, so that none is lost.

    >>> fitted("encoder.layers.0.self_attention_output_projection.weight", 32)
    'encoder.layers.0.self_…on.weight'
    """
    parts = name.split(".")
    for most in range(max(map(len, parts)), 4, -1):
        shorter = ".".join(part if len(part) <= _SHORT_PART else _cut(part, most) for part in parts)
        if len(shorter) <= width:
            return shorter
    return _cut(name, width)


def _cut(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    end = (width - 1) // 3
    return f"{text[: width - 1 - end]}…{text[len(text) - end :]}"


def _fitting(text: str, width: int) -> str:
    """The longest beginning that takes no more than `width` columns."""
    taken = 0
    for position, character in enumerate(text):
        taken += cells(character)
        if taken > width:
            return text[:position]
    return text
