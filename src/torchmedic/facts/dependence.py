"""What was seen of dependences: which samples, positions and tokens an answer was computed from."""

from __future__ import annotations

from typing import ClassVar, Literal

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact
from torchmedic.facts.loss import Producer


@fact
class SwappedByView(Observation):
    """A `view` or `reshape` whose result has the dimensions of its input in another order.

    `way`: `order` for the same sizes in another order, `split` for heads split off without a transpose,
    `merge` for heads joined without one, `states` for the last states of a recurrent layer, whose samples stand second.
    """

    kind: ClassVar[str] = "swapped-by-view"
    step: int | None
    op: str
    way: Literal["order", "split", "merge", "states"]
    where: Location | None
    expression: str
    before: tuple[int, ...]
    after: tuple[int, ...]


@fact
class SamplesAsSequence(Observation):
    """A recurrent or attention layer that takes dimension 0 for time, given samples there.

    `answers` is the number of answers that the loss is given: one for each sample.
    """

    kind: ClassVar[str] = "samples-as-sequence"
    step: int | None
    layer: str
    built: Location | None
    called: Location | None
    shape: tuple[int, ...]
    answers: int


@fact
class SamplesMixed(Observation):
    """A softmax along the samples, inside a model: `others` of the other samples have a part in one sample's answer."""

    kind: ClassVar[str] = "samples-mixed"
    step: int | None
    op: str
    where: Location | None
    expression: str
    shape: tuple[int, ...]
    others: int


@fact
class PickedAcross(Observation):
    """One value of each row is picked along `picked_dim`, of what a softmax along `dim` has made."""

    kind: ClassVar[str] = "picked-across"
    step: int | None
    softmax: Producer
    shape: tuple[int, ...]
    dim: int
    picked_dim: int
    picked_at: Location | None
    picked_by: str


@fact
class PickedMixed(Observation):
    """One value of each row is picked, of rows that the view `cut` made of scores of the shape `before`."""

    kind: ClassVar[str] = "picked-mixed"
    step: int | None
    cut: Producer
    before: tuple[int, ...]
    shape: tuple[int, ...]
    picked_at: Location | None
    picked_by: str


@fact
class TokensAhead(Observation):
    """Targets that are the model's own input tokens, `offset` positions later.

    `position` is the one whose answer was followed back; `seen` are the input positions it was computed from. `mask` is
    where a causal mask is made, `mixer` what lets positions see each other, `mixed_at` where that is, `shifted_at` the
    line that takes labels from the second token on, `labels_at` the one that puts `labels` into a dict, `decoder_at`
    the one that gives a model its `decoder_input_ids` beside the labels.
    """

    kind: ClassVar[str] = "tokens-ahead"
    step: int | None
    offset: int
    length: int
    position: int
    seen: tuple[int, ...]
    where: Location | None
    names: tuple[str, str]
    mask: Location | None = None
    mixer: str = ""
    mixed_at: Location | None = None
    shifted_at: Location | None = None
    labels_at: Location | None = None
    decoder_at: Location | None = None
