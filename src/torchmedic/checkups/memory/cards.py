"""The cards people have: how much they hold, and what the libraries take of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

GIB = 1 << 30
MIB = 1 << 20
_KIB = 1 << 10

# cuBLAS: eight buffers of 4 MiB on Hopper and Blackwell; two of 4 MiB and eight of 16 KiB before.
_WIDE_WORKSPACE = 8 * 4 * MIB
_WORKSPACE = 2 * 4 * MIB + 8 * 16 * _KIB


@dataclass(frozen=True, kw_only=True)
class Card:
    """A card: the bytes that programs can have, and its generation."""

    name: str
    memory: int
    capability: tuple[int, int]
    context: int = 500 * MIB

    @property
    def cublas_workspace(self) -> int:
        return _WIDE_WORKSPACE if self.capability[0] >= 9 else _WORKSPACE

    @property
    def processors(self) -> int:
        """Multiprocessors, of the cards of a generation that are used most."""
        known = {(7, 0): 80, (7, 5): 40, (8, 0): 108, (8, 6): 84, (8, 9): 128, (9, 0): 132, (10, 0): 148, (12, 0): 170}
        return known.get(self.capability, 108)

    @property
    def usable(self) -> int:
        """What is left for tensors once the driver has its context."""
        return self.memory - self.context


def _card(name: str, mebibytes: int, major: int, minor: int, context: int = 500) -> Card:
    return Card(name=name, memory=mebibytes * MIB, capability=(major, minor), context=context * MIB)


# Memory as the driver reports it; contexts as large as seen with current drivers, rounded up.
CARDS = (
    _card("H200", 143_156, 9, 0, 790),
    _card("H100", 81_079, 9, 0, 790),
    _card("H100-94", 95_310, 9, 0, 790),
    _card("B200", 182_642, 10, 0, 900),
    _card("A100-80", 81_051, 8, 0),
    _card("A100-40", 40_326, 8, 0),
    _card("A40", 45_488, 8, 6),
    _card("A10", 22_503, 8, 6, 350),
    _card("A6000", 48_535, 8, 6),
    _card("L4", 22_478, 8, 9, 350),
    _card("L40S", 45_458, 8, 9),
    _card("5090", 32_109, 12, 0, 600),
    _card("4090", 24_081, 8, 9, 450),
    _card("4080", 15_944, 8, 9, 400),
    _card("4070", 11_873, 8, 9, 350),
    _card("4060", 7_805, 8, 9, 300),
    _card("3090", 24_111, 8, 6, 400),
    _card("3080", 9_985, 8, 6, 350),
    _card("3060", 11_907, 8, 6, 300),
    _card("2080Ti", 11_011, 7, 5, 300),
    _card("T4", 14_930, 7, 5, 300),
    _card("V100-32", 32_494, 7, 0, 400),
    _card("V100-16", 16_151, 7, 0, 400),
    _card("P100", 16_280, 6, 0, 350),
)
DEFAULT = CARDS[0]

_SIZE = re.compile(r"^(\d+(?:\.\d+)?)\s*([tgm])(ib|b)?$")
_UNITS = {"t": (1 << 40, 10**12), "g": (GIB, 10**9), "m": (MIB, 10**6)}
_ALIASES = {"h10080": "h100"}
_OF_TWO_SIZES = {"a100": "A100-40 or A100-80", "v100": "V100-16 or V100-32"}


class UnknownCard(ValueError):
    """Not a card and not a size."""


def card_named(text: str) -> Card:
    """A card by its name, or an imagined one by its memory.

    >>> card_named("24GiB").memory == 24 * GIB
    True
    >>> card_named("rtx-4090").name
    '4090'
    """
    plain = text.lower().replace("nvidia", "").replace("geforce", "").strip(" -_")
    short = re.sub(r"[\s_-]+", "", plain)
    wanted = re.sub(r"[\s_-]+", "", _ALIASES.get(short, short.removeprefix("rtx")))
    for card in CARDS:
        if re.sub(r"[\s_-]+", "", card.name.lower()) == wanted:
            return card
    if wanted in _OF_TWO_SIZES:
        raise UnknownCard(f"there are two sizes of {text}: {_OF_TWO_SIZES[wanted]}")
    match = _SIZE.match(plain)
    if match is None:
        names = ", ".join(card.name for card in CARDS)
        raise UnknownCard(f"unknown card {text!r}: give a size such as 24GiB, or one of {names}")
    unit = _UNITS[match[2]][match[3] == "b"]
    imagined = Card(name=text, memory=int(float(match[1]) * unit), capability=(8, 0), context=450 * MIB)
    if text.strip().startswith("-") or imagined.memory <= imagined.context:
        raise UnknownCard(f"a card of {text} has no room: 450 MiB are taken before the first tensor")
    return imagined
