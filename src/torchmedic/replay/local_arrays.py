"""A second, silent run that looks into the functions which prepare data, when they return."""

from __future__ import annotations

from types import FrameType
from typing import Any

import numpy as np
import torch

from torchmedic.probes.data.held_arrays import Held
from torchmedic.probes.data.held_checks import fallen_together
from torchmedic.probes.objects.bindings import locals_of
from torchmedic.probes.source.expressions import enclosing_function, parsed
from torchmedic.probes.source.frames import shown_path
from torchmedic.probes.source.making_lines import variable_made
from torchmedic.record import Recorder, shielded
from torchmedic.replay.until_training import UntilTraining

_LEAST_ROWS = 50


class LocalArrays(UntilTraining):
    """Follows the functions that the settings name, until the first step of a training."""

    name = "local-arrays"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._functions = set(recorder.settings.trial.split(";"))
        self._first_lines = {int(function.rpartition(":")[2]) for function in self._functions}
        self._call, self._return = shielded(self)(self._on_call), shielded(self)(self._on_return)
        self.follow(self._call)

    def _on_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        # The number first: libraries make calls by the hundred thousand, and a path takes the system's time to show.
        if code.co_firstlineno not in self._first_lines:
            return None
        if f"{shown_path(code.co_filename)}:{code.co_firstlineno}" not in self._functions:
            return None
        frame.f_trace_lines = False
        return self._return

    def _on_return(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "return":
            file = frame.f_code.co_filename
            tree = parsed(file)
            for name, thing in list(locals_of(frame).items()) if tree is not None else ():
                array = _array(thing)
                if array is not None and tree is not None:
                    made = variable_made(file, enclosing_function(tree, frame), name)
                    for fact in fallen_together(Held(name, name, array, made), self.recorder.step):
                        self.recorder.observe(fact)
        return self._return


def _array(thing: Any) -> Any:
    """Numbers of float32 with many rows, be it those of a column."""
    if type(thing).__name__ == "Series" and hasattr(thing, "to_numpy"):
        thing = thing.to_numpy()
    is_tensor = type(thing) is torch.Tensor and thing.dtype == torch.float32 and thing.layout == torch.strided
    is_array = type(thing) is np.ndarray and thing.dtype == np.float32
    return thing if (is_tensor or is_array) and thing.ndim and len(thing) >= _LEAST_ROWS else None
