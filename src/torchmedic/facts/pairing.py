"""What was seen of inputs, answers and targets: whether the ones have anything to do with the others."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class LossPairing(Observation):
    """One call of a loss function, with the value it has when every target meets the answers for other samples.

    `spread` is how much the answers differ within the batch, `varied` whether the targets do. `permuted` is the line
    that puts the targets into an order of their own; `rounded` the line that cut fractions off them, which
    `fractions` of them had. `loop` is the loop around the line, the innermost of its function.
    `answers` is the number of different classes that the largest scores of the batch name; `whole` says that all
    targets are whole numbers. `unrolled` are the shapes that answers and targets had before both were flattened.
    """

    kind: ClassVar[str] = "loss-pairing"
    step: int | None
    function: str
    where: Location | None
    names: tuple[str, str]
    samples: int
    loss: float
    others: float
    spread: float
    varied: bool
    permuted: Location | None = None
    permuted_text: str = ""
    rounded: Location | None = None
    rounded_text: str = ""
    fractions: float = 0.0
    loop: Location | None = None
    answers: int | None = None
    whole: bool = False
    target_mean: float = 0.0
    target_spread: float = 0.0
    unrolled: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    unrolled_text: str = ""
    unrolled_at: Location | None = None


@fact
class InputSeen(Observation):
    """What the first layer of a model was given: `same` says that all samples of the batch were equal.

    `means` and `spreads` are those of each column within the batch, for tables of moderate width. `far` are columns
    with a number far from all others of the batch: `(column, number, how often)`.
    """

    kind: ClassVar[str] = "input-seen"
    step: int | None
    op: str
    layer: str
    shape: tuple[int, ...]
    same: bool
    called: Location | None = None
    expression: str = ""
    layer_built: Location | None = None
    means: tuple[float, ...] = ()
    spreads: tuple[float, ...] = ()
    far: tuple[tuple[int, float, int], ...] = ()


@fact
class ScaledTwice(Observation):
    """An input whose numbers, up to `high`, are those of bytes divided by 255 two times: `levels` different ones.

    `where` is the line of the second division, as far as can be told, `before` another one that scales. Where it
    `is_normalised` that one takes pixels for bytes, so that all lie between `low` and `high`.
    """

    kind: ClassVar[str] = "scaled-twice"
    step: int | None
    layer: str
    shape: tuple[int, ...]
    high: float
    levels: int
    where: Location
    text: str
    before: Location
    before_text: str
    low: float = 0.0
    is_normalised: bool = False


@fact
class TinyBatchNorm(Observation):
    """A BatchNorm in training that computes mean and spread of a channel from next to no values."""

    kind: ClassVar[str] = "tiny-batch-norm"
    step: int | None
    layer: str
    batch: int
    values: int
    called: Location | None = None
    layer_built: Location | None = None
