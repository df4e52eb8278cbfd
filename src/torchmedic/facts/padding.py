"""What was seen of padding that the loss counts."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class PaddedLabels(Observation):
    """A loss whose targets go on where the tokens are padding.

    `label` is what all targets there are, and None where they differ; `real` of the other targets are the same.
    `padded_at` is the line that padded the targets, where that was seen, with the text `padded_by`; `built` the line
    that built the loss, where it is a layer. `is_token`: the
    model learns the next token, padding is one of them, and stands for nothing else; `is_told`: a mask of the batch
    says where it is.
    """

    kind: ClassVar[str] = "padded-labels"
    step: int | None
    function: str
    where: Location | None
    names: tuple[str, str]
    label: int | None
    padded: int
    positions: int
    real: int
    ignore_index: int
    pad_token: int
    padded_at: Location | None = None
    padded_by: str = ""
    is_ending: bool = False
    is_token: bool = False
    is_told: bool = False
    built: Location | None = None


@fact
class ClassIgnored(Observation):
    """A loss that ignores the number by which labels are padded, which is a real class as well.

    Of the places that are no padding, `ignored` of `real` have the label; `class_name` is how the script calls it.
    """

    kind: ClassVar[str] = "class-ignored"
    step: int | None
    function: str
    where: Location | None
    target: str
    label: int
    class_name: str
    ignored: int
    real: int
    built: Location | None = None
    padded_at: Location | None = None
    padded_by: str = ""
