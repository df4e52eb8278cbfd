"""Lines that write into the weights of a model after it was wrapped to be the same on all ranks."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.overrides import TorchFunctionMode

from torchmedic.facts import Location, WeightsWritten, WritesByRank
from torchmedic.probes.events.modes import LISTENS, may_put_on, take_off
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.ranks.branches import writes_by_rank
from torchmedic.probes.source.frames import user_location
from torchmedic.probes.source.tracebacks import hide_mode
from torchmedic.record import Probe, Recorder

_MOST_LINES = 8
_MOST_CALLS = 20_000


class RankWrites(Probe):
    """Listens from the end of `DistributedDataParallel(model)` to the first forward pass.

    To listen for the whole of a run would cost too much: for later writes the source is read at the end.
    """

    name = "rank-writes"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._listener: _Writes | None = None
        self._has_wrapped = False
        original = DistributedDataParallel.__init__

        @functools.wraps(original)
        def init(wrapper: Any, *args: Any, **kwargs: Any) -> None:
            with frame_hidden:
                original(wrapper, *args, **kwargs)
            self._listen(wrapper)

        self._patches.replace(DistributedDataParallel, "__init__", init)

    def remove(self) -> None:
        self._stop()
        self._patches.restore()

    def _listen(self, wrapper: Any) -> None:
        self._has_wrapped = True
        if self._listener is None and self.recorder.is_ours and self.recorder.step == 0 and may_put_on():
            named = {p.data_ptr(): name for name, p in wrapper.module.named_parameters() if p.numel()}
            self._listener = _Writes(named)
            torch._C._push_on_torch_function_stack(self._listener)

    def on_forward(self, module: Any) -> None:
        self._stop()

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._stop()
        self.recorder.rest(self)

    def on_finish(self) -> None:
        self._stop()
        places = writes_by_rank() if self._has_wrapped else ()
        if places:
            self.recorder.observe(WritesByRank(places=places, step=self.recorder.step))

    def _stop(self) -> None:
        listener, self._listener = self._listener, None
        if listener is None:
            return
        take_off(listener)
        for (where, op), names in listener.lines.items():
            self.recorder.observe(WeightsWritten(where=where, names=tuple(names), op=op, step=self.recorder.step))


class _Writes(TorchFunctionMode):
    """Notes calls that work in place on memory which holds a parameter."""

    def __init__(self, named: dict[int, str]) -> None:
        super().__init__()
        setattr(self, LISTENS, True)
        self._named = named
        self._calls = 0
        self.lines: dict[tuple[Location, str], list[str]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            result = func(*args, **(kwargs or {}))
        except BaseException as error:
            hide_mode(error)
            raise
        self._calls += 1
        name = getattr(func, "__name__", "")
        works_in_place = (name.endswith("_") and not name.endswith("__")) or name == "__setitem__"
        if (
            works_in_place
            and self._calls < _MOST_CALLS
            and args
            and type(args[0]) in (torch.Tensor, torch.nn.Parameter)
        ):
            self._note(name, args[0])
        return result

    def _note(self, op: str, tensor: torch.Tensor) -> None:
        name = self._named.get(tensor.data_ptr()) if tensor.numel() and tensor.layout == torch.strided else None
        where = user_location() if name is not None else None
        if name is None or where is None or op == "requires_grad_":
            return
        if (where, op) in self.lines or len(self.lines) < _MOST_LINES:
            names = self.lines.setdefault((where, op), [])
            names.append(name) if name not in names else None
