"""Turns a process without a card into one that seems to have one: patches, undone together."""

from __future__ import annotations

import logging
from typing import Any

import torch
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.parameter import UninitializedTensorMixin, is_lazy  # type: ignore[attr-defined]
from torch.optim import optimizer
from torch.utils._contextlib import _DecoratorContextManager

from torchmedic.checkups.memory.activations import install_activations
from torchmedic.checkups.memory.attention import Attention
from torchmedic.checkups.memory.cards import Card
from torchmedic.checkups.memory.cells import install_cells
from torchmedic.checkups.memory.copies import install_copies
from torchmedic.checkups.memory.cpu_as_card import install_card_habits
from torchmedic.checkups.memory.ctc import install_ctc
from torchmedic.checkups.memory.cuda_api import pretend_a_card
from torchmedic.checkups.memory.guard import install_guard
from torchmedic.checkups.memory.intake import install_intake
from torchmedic.checkups.memory.kernels import Kernels
from torchmedic.checkups.memory.ledger import Ledger
from torchmedic.checkups.memory.outward import let_values_out
from torchmedic.checkups.memory.overlay import Overlay
from torchmedic.checkups.memory.patches import Patches
from torchmedic.checkups.memory.recurrent import install_recurrent
from torchmedic.checkups.memory.saved import install_saved
from torchmedic.checkups.memory.updates import install_updates
from torchmedic.checkups.memory.world import Backward, World

_DEVICE = torch.ops.prim.device.default
_DESTINATION = "_torchmedic_destination"


class Pretence:
    """A world with a card (or, on `cpu`, one in which the CPU is counted as if it were the card)."""

    def __init__(self, card: Card, device: str, *, expandable: bool = False, overlay: Overlay | None = None) -> None:
        self.card = card
        self._overlay = overlay
        self.ledger = Ledger(device, expandable=expandable)
        self.backward = Backward()
        self.world = World(self.ledger, Kernels(card), self.backward)
        self._patches = Patches()

    def begin(self) -> None:
        """Make it so, for the main thread."""
        # torch logs every operation that fake tensors refuse, with its stack; the exception says the same.
        logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL)
        put = self._patches.put
        if self.ledger.device == "cuda":
            install_guard()
            torch._C._set_only_lift_cpu_tensors(True)
            pretend_a_card(self._patches, self.ledger, self.card)
            if hasattr(fake_tensor, "init_gpu_context"):
                # Where a card seems to be there, fake tensors would wake it up with a true one.
                put(fake_tensor, "init_gpu_context", lambda _device: None)
            self._answer_for_devices()
        else:
            install_card_habits(self._patches)
            install_intake(self._patches, self.world)
        original = torch.nn.functional.scaled_dot_product_attention
        attention = Attention(original, self.card, self.ledger.device)
        put(torch.nn.functional, "scaled_dot_product_attention", attention)
        install_recurrent(self._patches, self.world)
        install_cells()
        install_updates()
        install_ctc(self._patches, self.world)
        install_activations(self._patches, self.ledger.device)
        self._watch_the_engine()
        for holder in (torch, torch.autograd, torch.autograd.grad_mode):
            put(holder, "inference_mode", _InferenceMode)
        self._make_parameters_fake()
        let_values_out(self._patches, self.world)
        if self._overlay is None:
            put(torch, "save", self._do_not_save)
        install_saved(self._patches, self.world, self._overlay)
        install_copies(self._patches)
        # On a card optimizers work on all parameters at once, if they know the parameters' type.
        put(optimizer, "_foreach_supported_types", [*optimizer._foreach_supported_types, FakeTensor])
        self.world.__enter__()  # type: ignore[no-untyped-call]

    def end(self) -> None:
        self.world.__exit__(None, None, None)  # type: ignore[no-untyped-call]
        self._patches.undo()
        if self.ledger.device == "cuda":
            torch._C._set_only_lift_cpu_tensors(False)

    # -- the engine ------------------------------------------------------------------------------------------------

    def _answer_for_devices(self) -> None:
        """C++ asks a fake tensor for its device: the engine is told `cpu`, everyone else the truth."""
        backward, dispatch = self.backward, FakeTensor.__torch_dispatch__

        def device_of(args: Any) -> torch.device:
            tensor = args[0]
            if tensor.fake_mode.in_kernel_invocation:
                return torch.device("meta")
            hidden = backward.asks and tensor.fake_device.type == "cuda" and not backward.is_for_node(tensor)
            return torch.device("cpu") if hidden else tensor.fake_device

        def dispatched(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return device_of(args) if func is _DEVICE else dispatch(func, types, args, kwargs or {})

        self._patches.put(FakeTensor, "__torch_dispatch__", classmethod(dispatched))
        fake_tensor._DISPATCH_META_HANDLERS[_DEVICE] = device_of

    def _watch_the_engine(self) -> None:
        backward, run = self.backward, torch.autograd.graph._engine_run_backward

        def engine(*args: Any, **kwargs: Any) -> Any:
            before = backward.running, backward.creates_graph
            backward.running, backward.creates_graph = True, bool(args[3])
            backward.hand(args[1])
            grad = torch.is_grad_enabled()
            try:
                # Which device a tensor has is asked for by the engine and by us: they differ in the grad mode, but
                # for a backward pass that is to be differentiated itself.
                with torch.set_grad_enabled(False):
                    return run(*args, **kwargs)
            finally:
                backward.running, backward.creates_graph = before
                torch.set_grad_enabled(grad)

        self._patches.put(torch.autograd.graph, "_engine_run_backward", engine)
        self._patches.put(torch.autograd, "_engine_run_backward", engine)

    # -- parameters ------------------------------------------------------------------------------------------------

    def _make_parameters_fake(self) -> None:
        """Weights need no numbers: a parameter is fake from its birth, and initialising it costs nothing."""
        world, ours = self.world, self.ledger.device
        make: Any = torch.nn.Parameter.__new__

        def new(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
            if type(data) is torch.Tensor and data.device.type == "cpu" and data.layout == torch.strided:
                data = fake_like(world, data)
            parameter = make(cls, data, requires_grad)
            if ours == "cpu" and isinstance(parameter, FakeTensor):
                world.ledger.add(parameter, world.origin(), "parameter", "parameters")
            world.ledger.mark(parameter, "parameters")
            return parameter

        self._patches.put(torch.nn.Parameter, "__new__", staticmethod(new))
        self._patches.put(torch.nn.Module, "_apply", _apply_in_place)
        self._patches.put(UninitializedTensorMixin, "materialize", _materialize)

    def _do_not_save(self, *_args: Any, **_kwargs: Any) -> None:
        """A checkpoint without numbers must not overwrite a true one."""
        self.world.assume("`torch.save` was skipped")


class _InferenceMode(_DecoratorContextManager):
    """`torch.inference_mode` as `torch.no_grad`: it keeps as little, and lets operations be seen one by one."""

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self._mode = mode

    def __enter__(self) -> None:
        self._before = torch.is_grad_enabled()
        if self._mode:
            torch.set_grad_enabled(False)

    def __exit__(self, *_: object) -> None:
        torch.set_grad_enabled(self._before)

    def clone(self) -> _InferenceMode:
        made: _InferenceMode = type(self)(self._mode)
        return made


def fake_like(world: World, tensor: torch.Tensor) -> torch.Tensor:
    """A fake tensor of the same form on the same device."""
    with world.fake:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)


def pretend_parameters(model: torch.nn.Module) -> None:
    """Take the numbers from the parameters of a model that was built before the pretence."""
    for parameter in list(model.parameters()):
        if not isinstance(parameter, FakeTensor):
            become(parameter, torch.nn.Parameter(parameter.detach(), parameter.requires_grad))


def _apply_in_place(module: torch.nn.Module, function: Any, recurse: bool = True) -> torch.nn.Module:
    """`Module.to` and its kin: parameters stay the objects that optimizers and tied layers hold."""
    done: set[int] = set()
    for part in module.modules() if recurse else (module,):
        for parameter in part._parameters.values():
            if parameter is None or id(parameter) in done:
                continue
            done.add(id(parameter))
            with torch.no_grad():
                moved = function(parameter)
            if is_lazy(parameter):
                setattr(parameter, _DESTINATION, moved.device)
                continue
            if moved is not parameter:
                become(parameter, torch.nn.Parameter(moved, parameter.requires_grad))
        for name, buffer in part._buffers.items():
            if buffer is not None:
                part._buffers[name] = function(buffer)
    return module


def _materialize(parameter: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
    """A lazy parameter gets its shape at the first batch, on the device that its module was moved to."""
    where = device or getattr(parameter, _DESTINATION, parameter.data.device)
    made = torch.empty(shape, device=where, dtype=dtype or parameter.data.dtype)
    learns = isinstance(parameter, torch.nn.UninitializedParameter)
    become(parameter, torch.nn.Parameter(made, parameter.requires_grad) if learns else made)


def become(tensor: torch.Tensor, other: torch.Tensor) -> None:
    """Let a tensor be another one, for everybody who holds it."""
    mine, others = dict(tensor.__dict__), dict(other.__dict__)
    if type(tensor) is not type(other):
        tensor.__class__, other.__class__ = type(other), type(tensor)
    torch._C._swap_tensor_impl(tensor, other)
    for holder, attributes in ((tensor, others), (other, mine)):
        holder.__dict__.clear()
        holder.__dict__.update(attributes)
