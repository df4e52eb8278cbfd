"""Chinese among Latin letters: spaces, marks, and where a line may be cut."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator

_CJK = r"\u3400-\u9fff"
_MARKS = r"，。；：、！？（）「」《》“”"
_NEVER_FIRST = "，。；：、！？）」》”…"
_NEVER_LAST = "（「《“"


def tidy(text: str) -> str:
    """Chinese type-setting: a space between Chinese and Latin, none beside full-width marks; code stays as it is.

    >>> tidy("在第3步， `a` 为0 （共2 个）"), tidy("张量`x`的形状")
    ('在第 3 步，`a` 为 0（共 2 个）', '张量 `x` 的形状')
    """
    joined = ""
    for number, part in enumerate(re.split(r"(`[^`]*`)", text)):
        is_code = number % 2
        if not is_code:
            part = re.sub(rf"(?<=[{_CJK}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9%])(?=[{_CJK}])", " ", part)
            part = re.sub(rf" *([{_MARKS}]) *", r"\1", part)
            part = re.sub(rf"(?<=[{_CJK}]) +(?=[{_CJK}])", "", re.sub(r" {2,}", " ", part))
        before, after = (f"[{_CJK}]$", "`") if is_code else ("`$", f"[{_CJK}]")
        joined += " " if re.search(before, joined) and re.match(after, part) else ""
        joined += part
    return joined


def is_wide(character: str) -> bool:
    """Whether a character takes two columns of a terminal."""
    return unicodedata.east_asian_width(character) in "WF"


def cells(text: str) -> int:
    return sum(2 if is_wide(character) else 1 for character in text)


def folded(text: str, width: int) -> list[str]:
    """A text in lines of at most so many columns.

    >>> folded("损失变成 NaN，梯度也是", 12)
    ['损失变成', 'NaN，梯度也', '是']
    """
    cuts = [0, *breaks(text, width, width), len(text)]
    return [text[start:end].strip() for start, end in itertools.pairwise(cuts)]


def breaks(text: str, first: int, rest: int) -> Iterator[int]:
    """Where to cut a text so that its first line takes `first` columns at most and the others `rest`."""
    start, width = 0, first
    while cells(text[start:].rstrip()) > width:
        end, taken = start, 0
        while taken + cells(text[end]) <= width:
            taken += cells(text[end])
            end += 1
        cut = next((at for at in range(end, start, -1) if _may_cut(text, at)), end)
        while cut < len(text) and text[cut] == " ":
            cut += 1
        yield cut
        start, width = cut, rest


def _may_cut(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if after in _NEVER_FIRST or before in _NEVER_LAST:
        return False
    return " " in (before, after) or is_wide(before) or is_wide(after)
