"""What was seen of masks: which tokens attention was told to leave out."""

from __future__ import annotations

from typing import ClassVar, Literal

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class MaskSeen(Observation):
    """A mask beside the tokens it is about.

    `how`: `inverted` when it leaves out every token but the padding, `attended` when it leaves no padding out.
    `padding` is the token that fills the sequences up; `tokens` and `fillers` count both.
    """

    kind: ClassVar[str] = "mask-seen"
    step: int | None
    how: Literal["inverted", "attended"]
    op: str
    argument: str
    where: Location | None
    expression: str
    made: Location | None
    made_text: str
    padding: int
    tokens: int
    fillers: int
    rows: int


@fact
class PositionsAlongBatch(Observation):
    """The first rows of a table of positions, added to a tensor along its samples instead of along its sequence."""

    kind: ClassVar[str] = "positions-along-batch"
    step: int | None
    where: Location | None
    expression: str
    table: tuple[int, ...]
    added: tuple[int, ...]
    to: tuple[int, ...]
    samples: int
    along: int


@fact
class PaddingRead(Observation):
    """The last place of padded sequences, taken for their end: `padded` of `rows` end in padding there."""

    kind: ClassVar[str] = "padding-read"
    step: int | None
    where: Location
    expression: str
    padding: int
    padded: int
    rows: int
    length: int
    behind: float
