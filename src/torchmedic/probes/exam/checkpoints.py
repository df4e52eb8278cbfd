"""The exam of checkpoints: what `load_state_dict` really loaded, and from whose memory."""

from __future__ import annotations

import ast
import functools
import sys
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchmedic.facts import Location, StateLoaded
from torchmedic.late import late_dataclass
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.graph.trace import storage_key
from torchmedic.probes.objects.lineage import Lineage
from torchmedic.probes.source.argument_lines import alias_line
from torchmedic.probes.source.frames import user_frame, user_location
from torchmedic.probes.source.positions import expression_at, parsed_expression
from torchmedic.record import Probe, Recorder, shielded

_MOST_LOADS = 200
_MOST_NAMES = 6


@late_dataclass()
class _Taken:
    """A state dict that was asked for: its values are those of the model itself, not copies."""

    where: Location | None
    step: int


class CheckpointExam(Probe):
    """Wraps `Module.state_dict` and `Module.load_state_dict`."""

    name = "checkpoint-exam"

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._taken: dict[int, list[_Taken]] = {}
        self._loads = 0
        self._file: Location | None = None
        self._inside = False
        self._watch_state_dict()
        self._watch_load()
        self._watch_files()

    def remove(self) -> None:
        self._patches.restore()

    def _watch_state_dict(self) -> None:
        original = nn.Module.state_dict
        note = shielded(self)(self._note_taken)

        @functools.wraps(original)
        def state_dict(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            if self._inside or not self.recorder.is_ours or not self.recorder.step:
                with frame_hidden:
                    return original(module, *args, **kwargs)
            self._inside = True
            try:
                with frame_hidden:
                    result = original(module, *args, **kwargs)
            finally:
                self._inside = False
            note(result)
            return result

        self._patches.replace(nn.Module, "state_dict", state_dict)

    def _note_taken(self, state: Any) -> None:
        key = _memory(state)
        if key is not None:
            self._taken[key] = [*self._taken.get(key, [])[-50:], _Taken(user_location(), self.recorder.step)]

    def _watch_load(self) -> None:
        original = nn.Module.load_state_dict
        examine, note = shielded(self)(self._examine), shielded(self)(self._note_load)

        @functools.wraps(original)
        def load_state_dict(module: nn.Module, state_dict: Any, strict: bool = True, *args: Any, **kwargs: Any) -> Any:
            if not self.recorder.is_ours:
                with frame_hidden:
                    return original(module, state_dict, strict, *args, **kwargs)
            fact = examine(module, state_dict, strict) if self._loads < _MOST_LOADS else None
            self._loads += 1
            with frame_hidden:
                result = original(module, state_dict, strict, *args, **kwargs)
            if fact is not None:
                note(fact, module)
            return result

        self._patches.replace(nn.Module, "load_state_dict", load_state_dict)

    def _note_load(self, fact: StateLoaded, module: nn.Module) -> None:
        self.recorder.observe(fact)
        if fact.matched:
            self._lineage.load(module)

    def _watch_files(self) -> None:
        original = torch.load
        note = shielded(self)(self._note_file)

        @functools.wraps(original)
        def load(*args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                result = original(*args, **kwargs)
            if self.recorder.is_ours:
                note()
            return result

        self._patches.replace(torch, "load", load)

    def _note_file(self) -> None:
        self._file = user_location()

    def _own(self, module: nn.Module) -> dict[str, Any]:
        self._inside = True
        try:
            return dict(module.state_dict())
        finally:
            self._inside = False

    def _examine(self, module: nn.Module, state: Any, strict: bool) -> StateLoaded | None:
        given = {key: value for key, value in dict(state).items() if isinstance(value, torch.Tensor)}
        wanted = {key: value for key, value in self._own(module).items() if isinstance(value, torch.Tensor)}
        if not given or not wanted:
            return None
        matched = given.keys() & wanted.keys()
        shared = [k for k in matched if storage_key(given[k]) == storage_key(wanted[k])]
        strip, add, again = _prefixes(given, wanted) if len(matched) < len(given) else ("", "", 0)
        taken = self._taken.get(_memory(given) or 0, [])[-1:]
        between = _taker_and_giver() if len(shared) == len(given) else None
        return StateLoaded(
            model=type(module).__name__,
            where=user_location(),
            strict=strict,
            given=len(given),
            wanted=len(wanted),
            matched=len(matched),
            own=len(shared),
            wanted_names=tuple(wanted)[:_MOST_NAMES],
            missing=tuple(k for k in wanted if k not in given)[:_MOST_NAMES],
            unexpected=tuple(k for k in given if k not in wanted)[:_MOST_NAMES],
            prefix_given=strip,
            prefix_wanted=add,
            matched_without_prefix=again,
            renamed=_renamed(given, wanted),
            kept_at=taken[0].where if taken else None,
            kept_step=taken[0].step if taken else None,
            steps_since=self.recorder.step - taken[0].step if taken else 0,
            file_loaded=self._file,
            between=between,
            aliased=alias_line(*between) if between is not None else None,
            step=self.recorder.step,
        )


def _taker_and_giver() -> tuple[str, str] | None:
    """`a` and `b` of `a.load_state_dict(b.state_dict())`, as the user wrote them."""
    frame = user_frame(sys._getframe(2))
    tree = parsed_expression(expression_at(frame.f_code, frame.f_lasti)) if frame is not None else None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Attribute) or not tree.args:
        return None
    state = tree.args[0]
    if not isinstance(state, ast.Call) or not isinstance(state.func, ast.Attribute) or state.func.attr != "state_dict":
        return None
    return ast.unparse(tree.func.value), ast.unparse(state.func.value)


def _memory(state: Any) -> int | None:
    """The storage of the first tensor: enough to know a state dict again, whoever copied the dictionary."""
    first = next((value for value in dict(state).values() if isinstance(value, torch.Tensor)), None)
    return storage_key(first) if first is not None else None


def _renamed(given: dict[str, Any], wanted: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Skipped keys and the missing ones that they fit, one to one; nothing where some missing key fits none.

    A new head, the last layer of the model, may well be of the old one's shape and is meant to be fresh.
    """
    if any(map(is_lazy, (*given.values(), *wanted.values()))):
        return ()
    head = next(reversed(wanted)).rpartition(".")[0]
    left = [key for key in given if key not in wanted]
    pairs: list[tuple[str, str]] = []
    for new in (key for key in wanted if key not in given):
        fitting = (
            old
            for old in left
            if given[old].shape == wanted[new].shape and old.rpartition(".")[2] == new.rpartition(".")[2]
        )
        old = next(fitting, None)
        if old is None:
            return ()
        left.remove(old)
        pairs.append((old, new))
    return tuple(pairs[:_MOST_NAMES]) if any(new.rpartition(".")[0] != head for _, new in pairs) else ()


def _prefixes(given: dict[str, Any], wanted: dict[str, Any]) -> tuple[str, str, int]:
    """The prefix that one side has and the other has not, and how many keys would match without it."""
    best = ("", "", 0)
    for strip in _leading(given):
        again = sum(k[len(strip) :] in wanted for k in given if k.startswith(strip))
        best = (strip, "", again) if again > best[2] else best
    for add in _leading(wanted):
        again = sum(add + k in wanted for k in given)
        best = ("", add, again) if again > best[2] else best
    return best


def _leading(names: dict[str, Any]) -> list[str]:
    """Dotted beginnings shared by at least half of the names."""
    counts: dict[str, int] = {}
    for name in names:
        parts = name.split(".")
        for depth in range(1, min(len(parts), 4)):
            prefix = ".".join(parts[:depth]) + "."
            counts[prefix] = counts.get(prefix, 0) + 1
    return [prefix for prefix, count in counts.items() if count * 2 >= len(names)]
