"""The exam of borrowed averages: is the average that a model was evaluated with still in it at the next update?"""

from __future__ import annotations

import ast
import sys
import weakref
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from torchmedic.facts import AverageLeftIn, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modes import is_compiled, may_put_on, take_off
from torchmedic.probes.exam.averaged_copies import Names, Pair, as_weights, named_from, named_in, weights_of
from torchmedic.probes.exam.averages import AverageExam
from torchmedic.probes.graph.trace import StorageKey, storage_key
from torchmedic.probes.source.expressions import functions_named
from torchmedic.probes.source.frames import file_of, is_user_file, location, location_of, outward
from torchmedic.probes.source.sources import user_nodes
from torchmedic.record import Probe, Recorder, next_of

_SEARCHES = (6, 61, 201)
_MOST_COMPARED = 1_000
_ENOUGH = 2
_WRITES = (torch.Tensor.copy_, torch.Tensor.set_, torch.Tensor.data.__set__)  # type: ignore[attr-defined]
_RESTORING = ("restore", "restore_backup", "restore_model", "recover", "unapply", "swap_back", "unswap")


@late_dataclass()
class _Held:
    """A trained parameter with an average of its own, as the last update left it."""

    pair: Pair
    model: str
    name: str
    parameter: weakref.ref[torch.Tensor]
    kept: torch.Tensor | None = None
    version: int = 0
    address: int = 0
    times: int = 0
    last: int = 0
    expected: int = 0
    backup: str = ""
    restore: Location | None = None
    where: Location | None = None


class AveragesLeft(Probe):
    """Compares one small parameter of an averaged model before each update with what the last update had left."""

    name = "averages-left"

    def __init__(self, averages: AverageExam) -> None:
        self._averages = averages

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._held: list[_Held] = []
        self._evaluated = False
        self._compared = 0
        self._line: _WriteLine | None = None
        recorder.rest(self, until=_SEARCHES[0])

    def remove(self) -> None:
        self._stop_line()

    def on_crash(self, error: BaseException) -> None:
        self._stop_line()

    def on_any_mode(self, module: Any, training: bool) -> None:
        self._evaluated |= not training

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        line = self._stop_line()
        if self.recorder.clock_is_held:
            return
        if not self._held:
            self._held = _held_by(self._averages.averages())
            if not self._held:
                self.recorder.rest(self, next_of(_SEARCHES, self.recorder.step))
            return
        for held in self._held:
            now = held.parameter()
            if now is not None and held.kept is not None and self._is_suspect(held, now):
                self._compared += 1
                self._compare(held, now, held.kept, line)
        self._evaluated = False
        if self._compared >= _MOST_COMPARED or any(h.where is not None and h.times >= _ENOUGH for h in self._held):
            self.recorder.rest(self)

    def on_step_done(self, optimizer: Any) -> None:
        for held in self._held:
            now = held.parameter()
            if now is not None:
                held.kept = now.detach().clone()
                held.version, held.address = now._version, now.data_ptr()
        due = [h for h in self._held if h.expected == self.recorder.step and h.where is None]
        if due and self._line is None and not is_compiled() and may_put_on():
            self._line = _WriteLine({storage_key(p): h for h in due if (p := h.parameter()) is not None})
            torch._C._push_on_torch_function_stack(self._line)

    def _is_suspect(self, held: _Held, now: torch.Tensor) -> bool:
        """Something was written in between, or an evaluation took place: what is written to `.data` is not counted."""
        is_written = now._version != held.version or now.data_ptr() != held.address
        return is_written or self._evaluated

    def _compare(self, held: _Held, now: torch.Tensor, kept: torch.Tensor, line: _WriteLine | None) -> None:
        if now.shape != kept.shape or now.device != kept.device or torch.equal(now, kept):
            return
        names = named_from(sys._getframe(1))
        copy = (held.pair.read(names) or {}).get(held.name)
        if copy is None or not _is_same(copy, now):
            return
        backup = _holder_of(kept, held, names)
        owner = names.get(held.pair.name.rpartition(".")[0])
        restore = _never_restored(owner)
        if not backup and restore is None:
            return
        step = self.recorder.step
        held.times, held.expected, held.last = held.times + 1, 2 * step - held.last, step
        held.backup, held.restore = held.backup or backup, restore
        held.where = held.where or (line.lines.get(id(held)) if line is not None else None)

    def _stop_line(self) -> _WriteLine | None:
        line, self._line = self._line, None
        if line is not None:
            take_off(line)
        return line

    def on_finish(self) -> None:
        self._stop_line()
        for held in self._held:
            if held.times >= _ENOUGH:
                self.recorder.observe(
                    AverageLeftIn(
                        step=held.last,
                        name=held.pair.name,
                        model=held.model,
                        parameter=held.name,
                        times=held.times,
                        backup=held.backup,
                        restore=held.restore,
                        where=held.where,
                    )
                )


class _WriteLine(TorchFunctionMode):
    """Notes the calls that last wrote into some tensors."""

    def __init__(self, wanted: dict[StorageKey, _Held]) -> None:
        super().__init__()
        self.lines: dict[int, Location | None] = {}
        self._wanted = wanted

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _WRITES and args and isinstance(args[0], torch.Tensor):
            held = self._wanted.get(storage_key(args[0]))  # that of before, where another is hung in
            if held is not None:
                self.lines[id(held)] = _line_of(held.pair.name, sys._getframe(1))
        return func(*args, **(kwargs or {}))


def _line_of(name: str, frame: FrameType) -> Location | None:
    """The user's line that asked for the write: the innermost that can name the average, outside of its own methods."""
    root, owner = name.partition(".")[0], name.rpartition(".")[0]
    frames = [above for above in outward(frame) if is_user_file(above.f_code.co_filename)]
    averages = [named_in([above.f_locals, above.f_globals]).get(owner) for above in frames]
    for above in frames:
        code = above.f_code
        receiver = above.f_locals.get(next(iter(code.co_varnames), ""))
        named = root in code.co_names + code.co_varnames + code.co_freevars
        if named and (receiver is None or not any(receiver is average for average in averages)):
            return location_of(above)
    return location_of(frames[0]) if frames else None


def _held_by(pairs: list[tuple[Pair, str]]) -> list[_Held]:
    found = []
    for pair, name in pairs:
        model = pair.model()
        parameter = weights_of(model).get(name) if model is not None else None
        if parameter is not None:
            found.append(_Held(pair, type(model).__name__, name, weakref.ref(parameter)))
    return found


def _is_same(copy: torch.Tensor, now: torch.Tensor) -> bool:
    mine, its = now.detach(), copy.detach()
    if mine is its or storage_key(mine) == storage_key(its) or mine.shape != its.shape:
        return False
    return torch.equal(its.to(mine.device, mine.dtype), mine)


def _holder_of(kept: torch.Tensor, held: _Held, names: Names) -> str:
    """The name under which the weights lie that were trained up to here."""
    model = held.pair.model()
    for name, thing in names.items():
        weights = as_weights(thing, model) if model is not None and name != held.pair.name else None
        if weights is not None and held.name in weights and _is_same(weights[held.name], kept):
            return name
    return ""


def _never_restored(owner: Any) -> Location | None:
    """The method of the user's own average that puts weights back, where no line calls one of its name."""
    file = file_of(type(owner)) if owner is not None else ""
    for name in _RESTORING if is_user_file(file) else ():
        methods = functions_named(file, name)
        if methods and hasattr(type(owner), name) and not _is_called(name):
            return location(file, methods[0].lineno, f"{type(owner).__name__}.{name}")
    return None


def _is_called(name: str) -> bool:
    """Whether a method of this name is called, or handed on, anywhere."""
    return any(isinstance(node, ast.Attribute) and node.attr == name for _, node in user_nodes())
