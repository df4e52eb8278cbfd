"""What a report is drawn from: the verdict, the facts, the sampled series, and texts that lie beside them."""

from __future__ import annotations

from dataclasses import dataclass, field

from torchmedic.facts import Run, Series
from torchmedic.findings import Verdict


@dataclass(frozen=True, kw_only=True)
class Report:
    """`curves` are those of each rank, `sources` the lines of the user's files by path.

    `pages` are those of the rules, in English Markdown.
    """

    verdict: Verdict
    run: Run
    curves: tuple[tuple[Series, ...], ...] = ()
    layers: tuple[Series, ...] = ()
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
