"""Recurrent layers as cuDNN computes them: one kernel, with a reserve that backward needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from torchmedic.checkups.memory.intake import take_in
from torchmedic.checkups.memory.values import tensors_in, value_of

if TYPE_CHECKING:
    from torchmedic.checkups.memory.patches import Patches
    from torchmedic.checkups.memory.world import World

# Values that cuDNN keeps of each unit, step and layer: gates and states. Between layers it keeps the outputs too.
_KEPT = {"lstm": 5, "gru": 6, "rnn_tanh": 1, "rnn_relu": 1}
_GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
# The workspace, read off 56 layers of LSTM and GRU on a card (the plain RNN has kernels of its own, not modelled): so
# many values of each unit and step, so many of each unit and sample for every layer and direction, and a fixed part.
_BY_STEP = {"lstm": 4, "gru": 3, "rnn_tanh": 2, "rnn_relu": 2}
_BY_SAMPLE = {"lstm": 6, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
_FOR_EACH_LAYER = 8 << 20
_DROPOUT_STATE = 6_488_064
_DESCRIPTORS = 256


def install_recurrent(patches: Patches, world: World) -> None:
    """Let recurrent layers on the card run as one kernel each."""
    functions: Any = torch._VF
    for kind in _KEPT:
        patches.put(functions, kind, _Recurrent(kind, getattr(functions, kind), world))


class _Recurrent:
    """Stands in for `torch._VF.lstm` and its kin."""

    def __init__(self, kind: str, original: Any, world: World) -> None:
        self._kind = kind
        self._original = original
        self._world = world

    def __call__(self, *args: Any) -> Any:
        world = self._world
        if not any(isinstance(t, FakeTensor) and t.device.type == world.device for t in tensors_in(args)):
            return self._original(*args)
        packed = isinstance(args[1], torch.Tensor) and not isinstance(args[3], bool)
        if packed:
            data, sizes, hidden, weights, _bias, layers, dropout, train, both = args
            batch_first = False
        else:
            data, hidden, weights, _bias, layers, dropout, train, both, batch_first = args
            sizes = None
        states = tuple(hidden) if isinstance(hidden, (tuple, list)) else (hidden,)
        if world.device == "cpu":  # numbers that the CPU has in truth
            data, states = take_in(world, data), tuple(take_in(world, state) for state in states)
        if torch.is_autocast_enabled(world.device):
            half = torch.get_autocast_dtype(world.device)
            data, *rest = (t.to(half) for t in (data, *states, *weights))
            states, weights = tuple(rest[: len(states)]), rest[len(states) :]
        shape = _Shape(self._world, self._kind, layers, 2 if both else 1, batch_first, dropout, sizes, len(states))
        found: tuple[Any, ...] = _Cudnn.apply(  # type: ignore[no-untyped-call]
            shape, bool(train), data, *states, *weights
        )
        return found if len(found) > 1 else found[0]


class _Shape:
    """What does not change between forward and backward."""

    def __init__(
        self,
        world: World,
        kind: str,
        layers: int,
        directions: int,
        batch_first: bool,
        dropout: float,
        sizes: Any,
        states: int,
    ) -> None:
        self.world, self.kind, self.layers, self.directions = world, kind, layers, directions
        self.batch_first, self.dropout, self.states = batch_first, dropout, states
        self.sizes: Any = value_of(sizes) if sizes is not None else None

    def remember_dropout(self) -> None:
        """The generators of dropout are made once."""
        if self.dropout:
            self.world.kernels.keep_once(self.world, "cuDNN dropout", _DROPOUT_STATE)

    def reserve(self, data: torch.Tensor, width: int) -> int:
        """Bytes that are kept for backward. Dropout keeps a bit for each unit, of padded positions as well."""
        positions, samples, steps = self._extent(data)
        units = positions * width * self.directions
        between = self.layers - 1
        masks = steps * samples * width * self.directions**2 * between // 8 if self.dropout else 0
        kept = _KEPT[self.kind] * self.layers + between
        return units * kept * data.element_size() + masks + _DESCRIPTORS

    def workspace(self, data: torch.Tensor, width: int) -> int:
        """Bytes that a pass takes for itself; a batch that is not packed is copied into and out of that form."""
        positions, samples, _ = self._extent(data)
        both = 2 if self.directions == 2 else 0
        mask = 1 if self.dropout and self.layers > 1 and not both else 0
        by_step = positions * width * self.directions * (_BY_STEP[self.kind] + both + mask)
        parts = self.layers * self.directions
        by_sample = samples * width * parts
        values = by_step + by_sample * (_BY_SAMPLE[self.kind] + both) + self._weights(data.shape[-1], width)
        if self.sizes is None:
            values += positions * (width * self.directions + data.shape[-1]) + 2 * self.states * by_sample
        return values * data.element_size() + parts * _FOR_EACH_LAYER + _DESCRIPTORS

    def _weights(self, given: int, width: int) -> int:
        inputs = given + (self.layers - 1) * width * self.directions + self.layers * width
        return _GATES[self.kind] * width * self.directions * inputs

    def _extent(self, data: torch.Tensor) -> tuple[int, int, int]:
        """Positions that hold something, samples, and steps of the longest one."""
        if self.sizes is not None:
            return data.shape[0], int(self.sizes[0]), len(self.sizes)
        samples, steps = (data.shape[0], data.shape[1]) if self.batch_first else (data.shape[1], data.shape[0])
        return samples * steps, samples, steps


class _Cudnn(torch.autograd.Function):
    """One recurrent kernel: output, last states and the reserve."""

    @staticmethod
    def forward(ctx: Any, shape: _Shape, train: bool, data: Any, *rest: Any) -> Any:
        states = rest[: shape.states]
        width = states[0].shape[-1]
        out_shape = (*data.shape[:-1], width * shape.directions)
        out = data.new_empty(out_shape)
        last = [torch.empty_like(state) for state in states]
        learns = train and any(t.requires_grad for t in (data, *rest))
        if not learns:
            return (out, *last)
        shape.remember_dropout()
        scratch = data.new_empty(shape.workspace(data, width), dtype=torch.uint8)
        ctx.shape, ctx.reserve = shape, data.new_empty(shape.reserve(data, width), dtype=torch.uint8)
        del scratch
        copied = data.transpose(0, 1).contiguous() if shape.batch_first and shape.sizes is None else data
        ctx.save_for_backward(data, out, copied, *rest)
        return (out, *last)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        data, out, _copied, *rest = ctx.saved_tensors
        shape = ctx.shape
        gradient = grads[0] if grads[0] is not None else torch.zeros_like(out)
        gradient = gradient.contiguous()
        of_data = torch.empty_like(data)
        of_states = [torch.empty_like(state) for state in rest[: shape.states]]
        space = shape.workspace(data, rest[0].shape[-1])
        for_data = data.new_empty(space, dtype=torch.uint8)
        del for_data, gradient
        flat = data.new_empty(sum(weight.numel() for weight in rest[shape.states :]))
        for_weights = data.new_empty(space, dtype=torch.uint8)
        del for_weights
        parts, at = [], 0
        for weight in rest[shape.states :]:
            parts.append(flat[at : at + weight.numel()].view(weight.shape))
            at += weight.numel()
        ctx.reserve = None
        return None, None, of_data, *of_states, *parts
