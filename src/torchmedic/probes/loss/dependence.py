"""Whether samples stay apart on their way through the model: views, recurrent layers and softmaxes of a step."""

from __future__ import annotations

import ast
from typing import Any

import torch
from torch import nn

from torchmedic.facts import Location, SamplesAsSequence, SamplesMixed, SwappedByView
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.probes.graph.reach import is_safe_to_follow, reached
from torchmedic.probes.graph.reshapes import swapped
from torchmedic.probes.objects.room import Room
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import file_at
from torchmedic.record import Recorder

_VIEWS = frozenset(("view", "reshape"))
_RECURRENT = frozenset(("lstm", "gru", "rnn_tanh", "rnn_relu"))
_ATTENTION = "multi_head_attention_forward"
_TRANSFORMERS = ("TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer")
_STACKS = ("TransformerEncoder", "TransformerDecoder")
_MOST_FACTS = 24


@late_dataclass()
class _Runs:
    """A layer that runs over dimension 0 of what it is given."""

    layer: nn.Module
    call: Call
    shape: tuple[int, ...]


class Dependences:
    """Looks at single calls of an examined step, and judges them when the loss tells how many answers there are."""

    def __init__(self, recorder: Recorder, modules: Modules) -> None:
        self._recorder = recorder
        self._modules = modules
        self._room = Room(_MOST_FACTS)
        self._runs: list[_Runs] = []
        self._softmaxes: list[tuple[Call, torch.Tensor]] = []

    def close(self) -> None:
        self._runs.clear()
        self._softmaxes.clear()

    def look(self, trace: CallTrace, call: Call, args: tuple[Any, ...]) -> None:
        given = args[0] if args else None
        if not isinstance(given, torch.Tensor) or self._room.is_full:
            return
        if call.name in _VIEWS:
            self._look_at_view(trace, call, given)
        elif call.name in _RECURRENT or call.name == _ATTENTION:
            self._look_at_run(call, given)
        elif call.name == "softmax" and given.requires_grad and _runs_along_first(call, given):
            self._softmaxes.append((call, given))

    def _look_at_view(self, trace: CallTrace, call: Call, given: torch.Tensor) -> None:
        if not call.is_users or call.place is None:
            return
        way = "states" if _joins_states(trace, call, given) else swapped(tuple(given.shape), call.shape)
        where = call.place.location()
        if way is None or not self._room.takes(self._recorder.step, where):
            return
        self._recorder.observe(
            SwappedByView(
                step=self._recorder.step,
                op=call.name,
                way=way,
                where=where,
                expression=call.place.expression(),
                before=tuple(given.shape),
                after=call.shape,
            )
        )

    def _look_at_run(self, call: Call, given: torch.Tensor) -> None:
        layer = call.layer
        if layer is not None and getattr(layer, "batch_first", True) is False and given.ndim == 3:
            self._runs.append(_Runs(layer, call, tuple(given.shape)))

    # -- when the loss is called -----------------------------------------------------------------------------------

    def look_at_loss(self, trace: CallTrace, answers: torch.Tensor) -> None:
        """One answer for each sample: what is as long as the answers in dimension 0 holds samples there."""
        if answers.ndim == 0 or len(answers) < 2 or self._room.is_full:
            return
        for run in self._runs:
            if run.shape[0] == len(answers) and run.shape[1] > 1 and run.shape[1] not in answers.shape:
                self._note_run(run, len(answers))
                break
        for call, given in self._softmaxes:
            if len(given) == len(answers) and given is not answers and len(answers) not in given.shape[1:]:
                self._follow(trace, call, given, answers)
                break
        self.close()

    def _note_run(self, run: _Runs, answers: int) -> None:
        built = _written(self._modules.born_at(run.layer))
        if not self._room.takes(self._recorder.step, built):
            return
        source = built.source if built is not None else ""
        self._recorder.observe(
            SamplesAsSequence(
                step=self._recorder.step,
                layer=next((name for name in _TRANSFORMERS if name in source), type(run.layer).__name__),
                built=built,
                called=run.call.place.location() if run.call.place else None,
                shape=run.shape,
                answers=answers,
            )
        )

    def _follow(self, trace: CallTrace, call: Call, given: torch.Tensor, answers: torch.Tensor) -> None:
        if trace.has_hooks or not answers.requires_grad or not is_safe_to_follow(answers, self._modules.alive()):
            return
        parts = reached(answers, (0,), given)
        if parts is None or call.place is None or not self._room.takes(self._recorder.step, call.place.location()):
            return
        touched = parts.flatten(1).sum(1) > 0
        self._recorder.observe(
            SamplesMixed(
                step=self._recorder.step,
                op=call.name,
                where=call.place.location(),
                expression=call.place.expression(),
                shape=tuple(given.shape),
                others=int(touched[1:].sum()),
            )
        )


def _joins_states(trace: CallTrace, call: Call, given: torch.Tensor) -> bool:
    """The last states of a recurrent layer (directions, samples, width) cut into rows as if samples came first."""
    maker = trace.maker_of(given)
    layer = trace.calls[maker].layer if maker is not None and trace.calls[maker].name in _RECURRENT else None
    if not isinstance(layer, nn.RNNBase) or given.ndim != 3 or not given.is_contiguous():
        return False
    directions, samples, width = given.shape
    is_state = directions == layer.num_layers * (2 if layer.bidirectional else 1) and samples > 1 < directions
    return is_state and call.shape == (samples, directions * width) and width in (layer.hidden_size, layer.proj_size)


def _runs_along_first(call: Call, given: torch.Tensor) -> bool:
    dim = call.options.get("dim")
    is_first = isinstance(dim, int) and given.ndim > 1 and dim % given.ndim == 0
    return is_first and len(given) > 1 and given[0].numel() > 1


def _written(built: Location | None) -> Location | None:
    """Copies of a layer are born where the stack is built; the layer's own call near it is the line to edit."""
    if built is None or not any(f"{stack}(" in built.source for stack in _STACKS):
        return built
    file = file_at(built)
    tree = parsed(file) if file else None
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)] if tree is not None else []
    before = [n.lineno for n in calls if called_name(n) in _TRANSFORMERS and n.lineno <= built.line]
    return location(file, max(before), built.function) if before else built
