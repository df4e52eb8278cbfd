"""What we did to a run: the steps that were left out of it, and the one that it was stopped in."""

from __future__ import annotations

from torchmedic.facts import RunInfo
from torchmedic.translation import said

_MOST_SHOWN = 8


def stop_words(info: RunInfo, way_on: str) -> str:
    """Where it was us who ended the run."""
    if not info.stopped_by_us:
        return ""
    if info.sick_step == 1:
        return said(f"stopped the run in its first step, before any update; `{way_on}` lets it go on")
    return said(f"stopped the run in step {info.sick_step}; `{way_on}` lets it go on")


def skip_words(info: RunInfo) -> str:
    """How many steps were left out, which, and for which samples."""
    left = info.skipped
    if not left.count:
        return ""
    which, samples = _first(left.steps, left.count), _first(left.samples, len(left.samples))
    told = f"skipped {left.count} of {info.steps} steps: {which}"
    return said(f"{told}; bad values in samples {samples}" if samples else told)


def _first(numbers: tuple[int, ...], count: int) -> str:
    return ", ".join(map(str, numbers[:_MOST_SHOWN])) + (", …" if count > _MOST_SHOWN else "")
