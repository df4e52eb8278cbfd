"""Hears what Lightning and Transformers log, how long they mean to train, and how their early stopping ended."""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import Any

from torchmedic.facts import BestKept, EarlyStop, PlannedEpochs
from torchmedic.facts.metrics import better_of
from torchmedic.launch.imports import AfterImport, stop_waiting, wait_for_import
from torchmedic.metrics import tell, tell_stop
from torchmedic.probes.course.trackers import Trackers
from torchmedic.probes.events.patching import Patches, frame_hidden, hide_frame
from torchmedic.probes.source.sources import called_at
from torchmedic.record import Probe, Recorder, shielded

_LIGHTNING = ("lightning.pytorch", "pytorch_lightning")
_TRANSFORMERS = "transformers.trainer_callback"
_READ_AFTER = {"on_validation_end", "on_test_end", "on_train_epoch_end"}


class Frameworks(Probe):
    """Listens where both frameworks call their callbacks, so that an unmodified Trainer is understood as well."""

    name = "frameworks"

    def __init__(self, trackers: Trackers) -> None:
        self._trackers = trackers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._waiting: list[AfterImport | None] = []
        for package in _LIGHTNING:
            attach = shielded(self)(functools.partial(self._watch_lightning, package))
            self._waiting.append(wait_for_import(f"{package}.trainer.trainer", attach))
        self._waiting.append(wait_for_import(_TRANSFORMERS, shielded(self)(self._watch_transformers)))

    def remove(self) -> None:
        for finder in self._waiting:
            stop_waiting(finder)
        self._patches.restore()

    # -- Lightning -------------------------------------------------------------------------------------------------

    def _watch_lightning(self, package: str) -> None:
        call = sys.modules[f"{package}.trainer.call"]
        original = call._call_callback_hooks
        hear = shielded(self)(self._hear_lightning)

        @functools.wraps(original)
        def hooks(trainer: Any, hook_name: str, *args: Any, **kwargs: Any) -> None:
            try:
                original(trainer, hook_name, *args, **kwargs)
            except BaseException as error:
                hide_frame(error)
                raise
            # Lightning calls the callbacks that save checkpoints last, in a second round of the same hook.
            if kwargs.get("monitoring_callbacks") is not True:
                hear(trainer, hook_name)

        self._patches.replace(call, "_call_callback_hooks", hooks)
        connector = sys.modules[f"{package}.trainer.connectors.logger_connector"]._LoggerConnector
        pass_on = connector.log_metrics

        @functools.wraps(pass_on)
        def log_metrics(this: Any, *args: Any, **kwargs: Any) -> Any:
            with frame_hidden, self._trackers.muted():
                return pass_on(this, *args, **kwargs)

        self._patches.replace(connector, "log_metrics", log_metrics)

    def _hear_lightning(self, trainer: Any, hook: str) -> None:
        if hook in _READ_AFTER and not trainer.sanity_checking:
            self._take_lightning_numbers(trainer)
        elif hook == "on_train_start":
            if isinstance(trainer.max_epochs, int) and trainer.max_epochs > 0:
                self.recorder.observe(PlannedEpochs(step=None, epochs=trainer.max_epochs, source="lightning"))
            for logger in trainer.loggers:
                self._note_lightning_tracker(logger)
        elif hook == "on_train_end":
            self._tell_lightning_stop(trainer)
            self._tell_lightning_best(trainer)

    def _take_lightning_numbers(self, trainer: Any) -> None:
        numbers = dict(trainer._logger_connector.metrics["callback"])
        for name, value in numbers.items():
            # Logged with both `on_step` and `on_epoch`, a value has three names.
            echo = name.endswith("_step") or name.removesuffix("_epoch") in numbers.keys() - {name}
            if better_of(name) and not echo:
                tell(name, value, "lightning")

    def _note_lightning_tracker(self, logger: Any) -> None:
        kind = type(logger).__name__
        if kind == "TensorBoardLogger":
            self._trackers.note_use("tensorboard", logger.experiment)
        elif kind == "WandbLogger":
            self._trackers.note_use("wandb", logger.experiment)
        elif kind == "MLFlowLogger":
            self._trackers.note_use("mlflow", logger.run_id)

    def _tell_lightning_stop(self, trainer: Any) -> None:
        for callback in trainer.callbacks:
            if type(callback).__name__ != "EarlyStopping" or not hasattr(callback, "best_score"):
                continue
            best = float(callback.best_score)
            epochs = int(trainer.current_epoch)
            tell_stop(
                EarlyStop(
                    step=self.recorder.step,
                    monitor=str(callback.monitor),
                    mode=str(callback.mode),
                    patience=int(callback.patience),
                    min_delta=abs(float(callback.min_delta)),
                    epochs=epochs,
                    best_epoch=max(epochs - int(callback.wait_count), 0) or None,
                    best=best if abs(best) != float("inf") else None,
                    waited=int(callback.wait_count),
                    stopped=bool(callback.stopped_epoch),
                    restored=False,
                    source="lightning",
                    where=called_at(type(callback).__name__),
                )
            )

    def _tell_lightning_best(self, trainer: Any) -> None:
        for callback in trainer.callbacks:
            kind = type(callback).__name__
            if kind == "ModelCheckpoint" and getattr(callback, "monitor", None):
                best = getattr(callback, "best_model_score", None)
                self.recorder.observe(
                    BestKept(
                        step=self.recorder.step,
                        callback=kind,
                        monitor=str(callback.monitor),
                        mode=str(callback.mode),
                        best=float(best) if best is not None else None,
                        where=called_at(kind),
                    )
                )

    # -- Transformers ----------------------------------------------------------------------------------------------

    def _watch_transformers(self) -> None:
        handler = sys.modules[_TRANSFORMERS].CallbackHandler
        original = handler.call_event
        hear = shielded(self)(self._hear_transformers)

        @functools.wraps(original)
        def call_event(this: Any, event: str, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
            try:
                with self._trackers.muted() if event == "on_log" else contextlib.nullcontext():
                    result = original(this, event, args, state, control, **kwargs)
            except BaseException as error:
                hide_frame(error)
                raise
            hear(this, event, args, state, control, kwargs)
            return result

        self._patches.replace(handler, "call_event", call_event)

    def _hear_transformers(
        self, handler: Any, event: str, args: Any, state: Any, control: Any, given: dict[str, Any]
    ) -> None:
        if event == "on_log":
            self._take_transformers_numbers(given.get("logs") or {})
        elif event == "on_train_begin" and args.max_steps <= 0:
            self.recorder.observe(PlannedEpochs(step=None, epochs=round(args.num_train_epochs), source="huggingface"))
        elif event == "on_train_end":
            for callback in handler.callbacks:
                if hasattr(callback, "early_stopping_patience_counter"):
                    self._tell_transformers_stop(callback, args, state, control)

    def _take_transformers_numbers(self, logs: dict[str, Any]) -> None:
        if "train_runtime" in logs:
            return  # the summary at the end: its loss is a mean over everything
        for name, value in logs.items():
            if better_of(name):
                tell("train loss" if name == "loss" else name, value, "huggingface")

    def _tell_transformers_stop(self, callback: Any, args: Any, state: Any, control: Any) -> None:
        monitor = str(args.metric_for_best_model or "")
        epochs = round(float(state.epoch or 0))
        tell_stop(
            EarlyStop(
                step=self.recorder.step,
                monitor=monitor if monitor.startswith("eval_") else f"eval_{monitor}",
                mode="max" if args.greater_is_better else "min",
                patience=int(callback.early_stopping_patience),
                min_delta=float(callback.early_stopping_threshold or 0.0),
                epochs=epochs,
                best_epoch=max(epochs - int(callback.early_stopping_patience_counter), 0) or None,
                best=float(state.best_metric) if state.best_metric is not None else None,
                waited=int(callback.early_stopping_patience_counter),
                stopped=callback.early_stopping_patience_counter >= callback.early_stopping_patience,
                restored=bool(args.load_best_model_at_end),
                source="huggingface",
                where=called_at(type(args).__name__),
            )
        )
