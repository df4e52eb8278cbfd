"""Lightning: `Medic` watches a `Trainer` without `torchmedic run`; `EarlyStopping` restores the best weights."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from torchmedic.early_stopping import EarlyStopping as Stopping
from torchmedic.early_stopping import Mode
from torchmedic.findings import Verdict
from torchmedic.in_process import Watch, watch
from torchmedic.integrations.trackers import write_verdict
from torchmedic.probes.course.trackers import in_use
from torchmedic.settings import OnSick

if TYPE_CHECKING:
    from lightning.pytorch import Callback
else:
    # The callback's class must come from the package that the script's Trainer is from.
    _package = "pytorch_lightning" if "lightning.pytorch" not in sys.modules else "lightning.pytorch"
    try:
        Callback = importlib.import_module(_package).Callback
    except ImportError:
        Callback = importlib.import_module("lightning.pytorch").Callback


class Medic(Callback):
    """Watches `Trainer.fit` and prints what went wrong; under `torchmedic run` it leaves the watching to that.

    >>> Medic().verdict is None
    True
    """

    def __init__(self, on_sick: OnSick = "stop", quiet: bool = False) -> None:
        self._on_sick = on_sick
        self._quiet = quiet
        self._watch: Watch | None = None
        self.verdict: Verdict | None = None

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if stage == "fit" and self._watch is None:
            self._watch = watch(on_sick=self._on_sick, quiet=self._quiet, name=type(pl_module).__name__)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._end(exception if isinstance(exception, Exception) else None)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if stage == "fit":
            self._end(None)

    def _end(self, error: Exception | None) -> None:
        watched, self._watch = self._watch, None
        if watched is None:
            return
        self.verdict = watched.stop(error)
        if self.verdict is not None:
            write_verdict(self.verdict, in_use)


class EarlyStopping(Callback):
    """Stops by Lightning's own means when `monitor` no longer gets better, and puts the best weights back at the end.

    Its state is part of every checkpoint, so a resumed training goes on counting.

    >>> EarlyStopping("val_acc", mode="max", patience=3).stopping.patience
    3
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        patience: int = 10,
        min_delta: float = 0.0,
        mode: Mode = "min",
        restore: bool = True,
    ) -> None:
        self.stopping = Stopping(patience=patience, min_delta=min_delta, mode=mode, monitor=monitor)
        self.stopping.source = "lightning"
        self.restore = restore

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if not trainer.sanity_checking and trainer.state.fn == "fit":
            self._look(trainer, pl_module)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        if not trainer.enable_validation:
            self._look(trainer, pl_module)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        if self.restore:
            self.stopping.restore(pl_module)

    def state_dict(self) -> dict[str, Any]:
        return self.stopping.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.stopping.load_state_dict(state_dict)

    def _look(self, trainer: Any, pl_module: Any) -> None:
        logged = trainer.callback_metrics
        if self.stopping.monitor not in logged:
            known = ", ".join(sorted(map(str, logged))) or "none"
            raise RuntimeError(f"`{self.stopping.monitor}` was not logged; logged are: {known}")
        stop = self.stopping.step(logged[self.stopping.monitor], pl_module)
        trainer.should_stop = trainer.should_stop or trainer.strategy.reduce_boolean_decision(stop, all=False)
