"""Transformers: `Medic` watches a `Trainer` without `torchmedic run`; `EarlyStopping` restores the best weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from transformers import TrainerCallback
from transformers.trainer_callback import ExportableState

from torchmedic.early_stopping import EarlyStopping as Stopping
from torchmedic.early_stopping import Mode
from torchmedic.findings import Verdict
from torchmedic.in_process import Watch, watch
from torchmedic.integrations.trackers import write_verdict
from torchmedic.probes.course.trackers import in_use
from torchmedic.settings import OnSick

_WEIGHTS = "torchmedic-best.safetensors"


class Medic(TrainerCallback):
    """Watches `Trainer.train` and prints what went wrong; under `torchmedic run` it leaves the watching to that.

    >>> Medic().verdict is None
    True
    """

    def __init__(self, on_sick: OnSick = "stop", quiet: bool = False) -> None:
        self._on_sick = on_sick
        self._quiet = quiet
        self._watch: Watch | None = None
        self.verdict: Verdict | None = None

    def on_init_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begin before the Trainer builds its optimizer. A training that fails is judged when the script ends."""
        self._begin()

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._begin()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        watched, self._watch = self._watch, None
        if watched is None:
            return
        self.verdict = watched.stop()
        if self.verdict is not None:
            write_verdict(self.verdict, in_use)

    def _begin(self) -> None:
        if self._watch is None:
            self._watch = watch(on_sick=self._on_sick, quiet=self._quiet)


class EarlyStopping(TrainerCallback, ExportableState):
    """Stops by the Trainer's own means when a metric no longer gets better, and puts the best weights back.

    Its state is saved with every checkpoint (`trainer_state.json`), the best weights in the output folder.

    >>> EarlyStopping("eval_accuracy", mode="max", patience=3).stopping.patience
    3
    """

    def __init__(
        self, monitor: str = "eval_loss", patience: int = 10, min_delta: float = 0.0, mode: Mode = "min"
    ) -> None:
        self.stopping = Stopping(patience=patience, min_delta=min_delta, mode=mode, monitor=monitor)
        self.stopping.source = "huggingface"
        self._resumed: dict[str, Any] | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._resumed is not None:
            path = Path(args.output_dir) / _WEIGHTS
            weights = load_file(path) if path.exists() else None
            self.stopping.load_state_dict({**self._resumed, "weights": weights})
            self._resumed = None

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        metrics: dict[str, float] = kwargs["metrics"]
        name = self.stopping.monitor
        name = name if name in metrics else f"eval_{name}"
        if name not in metrics:
            raise RuntimeError(
                f"`{self.stopping.monitor}` is no metric of the evaluation; it has: {', '.join(metrics)}"
            )
        if self.stopping.step(metrics[name], kwargs.get("model")):
            control.should_training_stop = True

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        weights = self.stopping.state_dict()["weights"]
        if weights is not None and state.is_world_process_zero:
            apart = {name: tensor.contiguous().clone() for name, tensor in weights.items()}
            save_file(apart, Path(args.output_dir) / _WEIGHTS)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if kwargs.get("model") is not None:
            self.stopping.restore(kwargs["model"])

    def state(self) -> dict[str, Any]:
        """What the Trainer writes into `trainer_state.json`."""
        stopping = self.stopping
        kept = {name: value for name, value in stopping.state_dict().items() if name != "weights"}
        settings = {"monitor": stopping.monitor, "patience": stopping.patience}
        return {
            "args": {**settings, "min_delta": stopping.min_delta, "mode": stopping.mode},
            "attributes": {"_resumed": kept},
        }
