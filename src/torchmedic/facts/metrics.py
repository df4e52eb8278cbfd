"""What was measured of the training as its owner follows it: losses and scores by epoch, and when it was stopped."""

from __future__ import annotations

import re
from typing import ClassVar, Literal

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact

Split = Literal["train", "validation", "test", ""]
Better = Literal["lower", "higher", ""]

_SPLITS: tuple[tuple[Split, frozenset[str]], ...] = (
    ("validation", frozenset(("val", "valid", "validation", "validate", "dev", "eval", "evaluation", "evaluate"))),
    ("test", frozenset(("test", "testing", "holdout", "heldout"))),
    ("train", frozenset(("train", "training", "tr", "trn"))),
)
_LOWER = re.compile(
    "loss|losses|error|err|mse|rmse|mae|mape|msle|rmsle|nll|bce|ce|kl|crossentropy|perplexity|ppl|bpc|bpb|fid|wer|cer"
    "|criterion|cost|elbo"
)
_HIGHER = re.compile(
    "acc|accuracy|acc1|acc5|top1|top5|f1|auc|auroc|auprc|ap|map|iou|miou|jaccard|dice|bleu|rouge|r2|score|precision"
    "|recall|mrr|ndcg|hits|psnr|ssim|spearman|pearson|kappa|mcc|reward|return"
)
_WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")


@fact
class MetricPoint(Observation):
    """A loss or a score at one place of the training: the mean of the `count` values seen since the point before.

    `epoch` counts passes over the training data from 1 (or evaluations, or steps, where there are no passes);
    `step` counts updates. `source` is "phase" (a loss the script computed), "log" (`torchmedic.log`), "tensorboard",
    "wandb", "mlflow", "trackio", "swanlab", "lightning" or "huggingface".
    """

    kind: ClassVar[str] = "metric-point"
    step: int | None
    epoch: float
    name: str
    value: float
    source: str
    count: int = 1

    @property
    def split(self) -> Split:
        return split_of(self.name)

    @property
    def better(self) -> Better:
        return better_of(self.name)


@fact
class EarlyStop(Observation):
    """An early stopping at work: what it watched, its best epoch, and whether it ended the training.

    `waited` epochs went by without getting better; `restored` says that the best weights were put back.
    """

    kind: ClassVar[str] = "early-stop"
    step: int | None
    monitor: str
    mode: str
    patience: int
    min_delta: float
    epochs: int
    best_epoch: int | None
    best: float | None
    waited: int
    stopped: bool
    restored: bool
    source: str
    where: Location | None = None


@fact
class BestKept(Observation):
    """A callback that keeps the best weights by some value; `best` is the one it took for the best."""

    kind: ClassVar[str] = "best-kept"
    step: int | None
    callback: str
    monitor: str
    mode: str
    best: float | None
    where: Location | None = None


@fact
class PlannedEpochs(Observation):
    """How many epochs the training was meant to run, and the line that says so where it is the script's own loop."""

    kind: ClassVar[str] = "planned-epochs"
    step: int | None
    epochs: int
    source: str
    where: Location | None = None


def words_of(name: str) -> list[str]:
    """The words of a metric's name, in lower case.

    >>> words_of("valLoss"), words_of("Loss/val_top1")
    (['val', 'loss'], ['loss', 'val', 'top1'])
    """
    return [word.lower() for word in _WORD.findall(name)]


def split_of(name: str) -> Split:
    """The data a metric was measured on, as far as its name says.

    >>> split_of("Loss/val"), split_of("train_acc"), split_of("lr")
    ('validation', 'train', '')
    """
    words = set(words_of(name))
    return next((split for split, known in _SPLITS if words & known), "")


def better_of(name: str) -> Better:
    """Whether a metric is better when lower or higher; empty for what is neither a loss nor a score.

    >>> better_of("val_loss"), better_of("test/F1"), better_of("lr")
    ('lower', 'higher', '')
    """
    words = words_of(name)
    if any(map(_LOWER.fullmatch, words)):
        return "lower"
    return "higher" if any(map(_HIGHER.fullmatch, words)) else ""
