"""Guesses in which encoding bytes are written: by what is plausible, because most codecs take any bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.checkups.data.forms import is_chinese
from torchmedic.late import late_dataclass

MOST_READ = 1 << 20
# What was read of a longer file may end in the middle of a character.
_LONGEST_CHARACTER = 4
_MOST_STRANGE = 0.1
_MOST_SHOWN = 2
_WIDEST = 16
_HIGH = re.compile(rb"[\x80-\xff]")
# One or two of them beside a plain letter, as in `Müller` and `Größe`; blanks and marks are no letters.
_ACCENTS = re.compile(rb"(?<![\x80-\xff])(?:(?<=[A-Za-z])[\x80-\xff]{1,2}|[\x80-\xff]{1,2}(?=[A-Za-z]))(?![\x80-\xff])")
_RUSSIAN = re.compile("[А-ЯЁ]?[а-яё]+")
_MOSTLY = 0.7
# Korean is written with leads up to this one; a Chinese text of some length has a character above it.
_LAST_OF_KOREAN = 0xC8
_UNDEFINED_IN_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_GUESSES = ("gb18030", "shift_jis", "cp1252", "latin-1")


@late_dataclass(frozen=True)
class Reading:
    """An encoding in which bytes read well, with the words around the first strange byte as they read in it."""

    encoding: str
    sample: str
    is_sure: bool = False


def readings_of(content: bytes, refused: str) -> list[Reading]:
    """The encodings that are plausible, the likeliest first; one that is sure stands alone.

    >>> [(r.encoding, r.sample, r.is_sure) for r in readings_of("name\\nMüller;41".encode("cp1252"), "utf-8")]
    [('cp1252', 'Müller;41', False)]
    >>> [(r.encoding, r.is_sure) for r in readings_of("物流 很 快".encode("gbk"), "utf-8")]
    [('gb18030', True)]
    >>> [r.encoding for r in readings_of("Привет, мир".encode("cp1251"), "utf-8")]
    ['cp1251']
    """
    found = []
    for encoding, is_sure in _candidates(content):
        text = None if _same(encoding, refused) else _decoded(content, encoding)
        if text is None or not _is_plausible(text):
            continue
        reading = Reading(encoding, _sample(content, encoding), is_sure)
        if is_sure:
            return [reading]
        found.append(reading)
    return found[:_MOST_SHOWN]


def _candidates(content: bytes) -> Iterator[tuple[str, bool]]:
    """What the bytes may be written in, and whether their form alone proves it."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        yield "utf-16", True
    if content.startswith(b"\xef\xbb\xbf"):
        yield "utf-8-sig", True
    yield "utf-8", True
    is_accented = _is_accented(content)
    cyrillic = "" if is_accented else next((c for c in ("cp1251", "koi8-r") if _is_cyrillic(content, c)), "")
    if is_chinese(content):
        leads = [pair[0] for pair in re.findall(rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]", content)]
        is_beyond_korean = any(_LAST_OF_KOREAN < lead <= 0xD7 for lead in leads)
        yield "gb18030", is_beyond_korean and not cyrillic
        if not is_beyond_korean:
            yield "euc_kr", False
    if cyrillic:
        yield cyrillic, False
    elif is_accented:
        yield ("latin-1" if _UNDEFINED_IN_CP1252.search(content) else "cp1252"), False
    else:
        yield from ((encoding, False) for encoding in _GUESSES)


def _is_accented(content: bytes) -> bool:
    """Whether the strange bytes are single letters within words of plain ones, as in western languages."""
    accents = sum(len(found) for found in _ACCENTS.findall(content))
    return accents >= _MOSTLY * len(_HIGH.findall(content))


def _is_cyrillic(content: bytes, encoding: str) -> bool:
    """Whether most words are small Russian letters: these have the places of capitals in the other codec."""
    words = [run.decode(encoding, "replace") for run in re.findall(rb"[\x80-\xff]+", content)]
    return sum(_RUSSIAN.fullmatch(word) is not None for word in words) >= _MOSTLY * max(1, len(words))


def _sample(content: bytes, encoding: str) -> str:
    """The words of one line around the first byte beyond ASCII; of UTF-16 the first line."""
    if encoding == "utf-16":
        return _decoded(content[: 4 * _WIDEST], encoding) or ""
    first = next((found.start() for found in _HIGH.finditer(content)), 0)
    begin = content.rfind(b"\n", 0, first) + 1
    line = content[begin:].split(b"\n", 1)[0].decode(encoding, "replace").strip("\r\ufeff\ufffd")
    at = next((i for i, letter in enumerate(line) if letter > "\x7f"), 0)
    return line[max(0, at - _WIDEST) : at + _WIDEST].strip()


def _same(one: str, other: str) -> bool:
    return one.replace("-", "").replace("_", "").lower() == other.replace("-", "").replace("_", "").lower()


def _decoded(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        is_cut = len(content) == MOST_READ and error.start >= len(content) - _LONGEST_CHARACTER
        return content[: error.start].decode(encoding) if is_cut else None


def _is_plausible(text: str) -> bool:
    """Whether it reads as a text: control characters and rare blocks do not, letters and Chinese do."""
    strange = sum(not (c.isprintable() or c in "\r\n\t\f") or "\ue000" <= c <= "\uf8ff" for c in text)
    return bool(text) and strange <= _MOST_STRANGE * sum(c > "\x7f" for c in text)
