"""`EarlyStopping`: stop when a loss or a score no longer gets better, and keep the weights of the best epoch."""

from __future__ import annotations

import copy
import math
from typing import Any, Literal

import torch
from torch import nn

from torchmedic.facts import EarlyStop, Location
from torchmedic.metrics import is_watched, log, tell_stop
from torchmedic.probes.source.frames import user_location

Mode = Literal["min", "max"]


class EarlyStopping:
    """Ends a training whose `monitor` has not got better for `patience` epochs; keeps the best weights.

    >>> model = nn.Linear(2, 1)
    >>> stopping = EarlyStopping(patience=2)
    >>> [stopping.step(loss, model) for loss in (0.9, 0.5, 0.6, 0.7)]
    [False, False, False, True]
    >>> stopping.best, stopping.best_epoch
    (0.5, 2)
    >>> stopping.restore(model)
    """

    def __init__(
        self,
        patience: int = 10,
        min_delta: float = 0.0,
        mode: Mode = "min",
        monitor: str = "val_loss",
        keep_weights: bool = True,
    ) -> None:
        if patience < 1:
            raise ValueError(f"patience must be at least 1, not {patience}")
        if min_delta < 0:
            raise ValueError(f"min_delta must not be negative, but is {min_delta}")
        if mode not in ("min", "max"):
            raise ValueError(f"mode must be 'min' or 'max', not {mode!r}")
        self.patience = patience
        self.min_delta = min_delta
        self.mode: Mode = mode
        self.monitor = monitor
        self.keep_weights = keep_weights
        self.epoch = 0
        self.best: float | None = None
        self.best_epoch: int | None = None
        self.stopped_epoch: int | None = None
        self.source = "torchmedic"
        self._waited = 0
        self._restored = False
        self._weights: dict[str, torch.Tensor] | None = None
        self._stepped_at: Location | None = None

    @property
    def should_stop(self) -> bool:
        return self.stopped_epoch is not None

    @property
    def waited(self) -> int:
        """Epochs since the best one."""
        return self._waited

    def step(self, value: Any, model: nn.Module | None = None) -> bool:
        """Note an epoch's value; True when it is time to stop. A NaN never counts as better.

        The weights of `model` are copied when the value is the best so far. The tensors are the copies' own: later
        updates do not change them.
        """
        number = float(value)
        self.epoch += 1
        if self._is_better(number):
            self.best, self.best_epoch, self._waited = number, self.epoch, 0
            if self.keep_weights and model is not None:
                self._keep(model)
        else:
            self._waited += 1
            if self._waited >= self.patience and self.stopped_epoch is None:
                self.stopped_epoch = self.epoch
        if is_watched():
            self._stepped_at = self._stepped_at or user_location()
            log(self.monitor, number)
            self._tell()
        return self.should_stop

    def restore(self, model: nn.Module) -> None:
        """Put the best weights back into the model; without any kept weights it stays as it is."""
        if self._weights is None:
            return
        model.load_state_dict(self._weights)
        self._restored = True
        if is_watched():
            self._tell()

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on after a restart, to be saved with the checkpoint."""
        return {
            "epoch": self.epoch,
            "best": self.best,
            "best_epoch": self.best_epoch,
            "stopped_epoch": self.stopped_epoch,
            "waited": self._waited,
            "weights": self._weights,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken; settings such as `patience` are those of this object."""
        self.epoch = int(state["epoch"])
        self.best = state["best"]
        self.best_epoch = state["best_epoch"]
        self.stopped_epoch = state["stopped_epoch"]
        self._waited = int(state["waited"])
        self._weights = state["weights"]

    def _is_better(self, value: float) -> bool:
        if math.isnan(value):
            return False
        if self.best is None:
            return True
        gain = self.best - value if self.mode == "min" else value - self.best
        return gain > self.min_delta

    def _keep(self, model: nn.Module) -> None:
        """Copy into the tensors kept before, so that memory does not grow and shrink every epoch."""
        now = model.state_dict()
        kept = self._weights
        if kept is None or kept.keys() != now.keys():
            self._weights = {name: _copy(value) for name, value in now.items()}
            return
        with torch.no_grad():
            for name, value in now.items():
                if (
                    isinstance(value, torch.Tensor)
                    and value.shape == kept[name].shape
                    and value.dtype == kept[name].dtype
                ):
                    kept[name].copy_(value)
                else:
                    kept[name] = _copy(value)

    def _tell(self) -> None:
        tell_stop(
            EarlyStop(
                step=None,
                monitor=self.monitor,
                mode=self.mode,
                patience=self.patience,
                min_delta=self.min_delta,
                epochs=self.epoch,
                best_epoch=self.best_epoch,
                best=self.best,
                waited=self._waited,
                stopped=self.should_stop,
                restored=self._restored,
                source=self.source,
                where=self._stepped_at,
            )
        )


def _copy(value: Any) -> Any:
    """A copy that shares nothing; extra state of a module may be no tensor."""
    return value.detach().clone() if isinstance(value, torch.Tensor) else copy.deepcopy(value)
