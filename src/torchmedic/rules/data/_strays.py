"""Class numbers that stand apart from the classes: negative, or beyond a gap, in a few rows."""

from __future__ import annotations

from torchmedic.facts import LabelColumn

_FEWEST_CLASSES = 3
_FEWEST_ROWS = 20
_LIKE = 0.3
_FEW = 0.05


def strays(labels: LabelColumn) -> list[tuple[int, int]]:
    """Such numbers with their rows. Counts of things thin out by themselves: there the classes are of unlike sizes."""
    if not labels.whole or labels.distinct != len(labels.classes):
        return []
    sizes = {int(float(value)): n for value, n in labels.classes}
    core = {value: n for value, n in sizes.items() if n >= _FEWEST_ROWS}
    low = min(core, default=0)
    if len(core) < _FEWEST_CLASSES or low not in (0, 1) or max(core) - low + 1 != len(core):
        return []
    if min(core.values()) < _LIKE * max(core.values()):
        return []
    apart = [(value, n) for value, n in sorted(sizes.items()) if value not in core]
    is_apart = all((value < 0 or value > max(core) + 1) and n <= _FEW * min(core.values()) for value, n in apart)
    return apart if is_apart else []
