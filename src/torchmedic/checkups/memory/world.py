"""The pretended card: tensors on it have a shape and a place in the books, tensors on the CPU are real."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from torchmedic.checkups.memory.dimensions import Input
from torchmedic.checkups.memory.intake import count, note_input
from torchmedic.checkups.memory.kernels import Kernels
from torchmedic.checkups.memory.ledger import Ledger, Origin
from torchmedic.checkups.memory.matrices import Matrices
from torchmedic.checkups.memory.sparse import is_sparse, on_sparse, remember_indices
from torchmedic.checkups.memory.values import Values, give_value, tensors_in, value_of, worth_keeping
from torchmedic.facts import Location
from torchmedic.probes.source.frames import user_location

aten = torch.ops.aten
_DEVICE = torch.ops.prim.device.default
_MASKS = (torch.bool, torch.uint8)


class Backward:
    """Whether autograd's engine is at work, in this thread and not inside an operation that it called.

    The engine must take the tensors for tensors of the CPU: it would hand those of a card to a thread for it.
    """

    def __init__(self) -> None:
        self.running = False
        self.in_operation = False
        self.creates_graph = False
        self._results: set[int] = set()
        self._handed: set[int] = set()

    @property
    def asks(self) -> bool:
        return self.running and not self.in_operation and (self.creates_graph or not torch.is_grad_enabled())

    def hand(self, gradients: Iterable[Any]) -> None:
        """Note what a backward pass begins with."""
        self._handed = {id(gradient) for gradient in gradients}

    def note_results(self, made: list[torch.Tensor], leaves: list[torch.Tensor]) -> None:
        """A backward pass that is to be differentiated makes nodes for these results, if they need a gradient."""
        learns = self.creates_graph and torch.is_grad_enabled() and any(leaf.requires_grad for leaf in leaves)
        self._results = {id(tensor) for tensor in made} if learns else set()

    def is_for_node(self, tensor: torch.Tensor) -> bool:
        """Whether it is asked for a new node, which must be of the card as those of the forward pass are.

        Of a result that is the first to ask, before the engine takes it for a gradient; leaves are no gradients.
        """
        if not self.creates_graph:
            return False
        if id(tensor) in self._results:
            self._results.discard(id(tensor))
            return True
        return tensor.requires_grad and tensor.is_leaf and id(tensor) not in self._handed


class World(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Runs what touches the card on fake tensors, books it, and leaves everything else as it is."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here; saying so again at every operation would take longer than booking it."""
        return False

    def __init__(self, ledger: Ledger, kernels: Kernels, backward: Backward) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.fake = FakeTensorMode(allow_non_fake_inputs=True)
        self.ledger = ledger
        self.kernels = kernels
        self.backward = backward
        self.values = Values()
        self.assumed: Counter[tuple[Location | None, str]] = Counter()
        self.modules: list[str] = []
        self.origins: dict[int, Origin] = {}
        self.inputs: list[Input] = []
        self.device = ledger.device
        self.read_as = 1
        self.is_named = False
        self.matrices: Matrices | None = None

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is _DEVICE:
            return func(*args)
        if kwargs.get("pin_memory"):
            kwargs = {**kwargs, "pin_memory": False}  # pages are pinned for a card that is there
        leaves = tensors_in((*args, *kwargs.values()))
        self.is_named = self.is_named or _made_on_card(kwargs)
        if not leaves and self.backward.asks and "device" in kwargs:
            # The engine makes tensors where it takes the others to be: see `Backward`.
            kwargs = {**kwargs, "device": torch.device(self.device)}
        if not any(isinstance(leaf, FakeTensor) for leaf in leaves) and not _made_on_card(kwargs):
            return func(*args, **kwargs)
        return self._on_card(func, args, kwargs, leaves)

    def make(self, shape: Any, dtype: torch.dtype, device: Any, op: str = "") -> torch.Tensor:
        """A new tensor on the card, booked."""
        with self.fake:
            made = torch.empty(shape, dtype=dtype, device=device)
        self.book(made, op or "empty")
        return made

    def assume(self, what: str, where: Location | None = None) -> None:
        """Write down that something had to be taken for granted, with the user's line."""
        self.assumed[(where or user_location(), what)] += 1

    # -- one operation ---------------------------------------------------------------------------------------------

    def _on_card(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[torch.Tensor]) -> Any:
        if func is aten._local_scalar_dense.default:
            return self._read(args[0])
        done = self._without_kernel(func, args, kwargs, leaves)
        if done is not None:
            return done
        if self.backward.asks and kwargs.get("device") == torch.device("cpu"):
            kwargs = {**kwargs, "device": torch.device(self.device)}
        if self.device == "cpu":
            for leaf in leaves:
                if not isinstance(leaf, FakeTensor):
                    count(self, leaf)
        if func is aten.convolution.default:
            _check_devices(args[0], args[1])
        args = self._with_true_indices(func, args)
        self.values.draw(func, args, kwargs)
        out = self._run(func, args, kwargs)
        if self.backward.creates_graph:
            self.backward.note_results(tensors_in((out,)), leaves)
        if func is not aten.lift_fresh.default:
            self._book_all(func, args, kwargs, out)
        return out

    def _without_kernel(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[torch.Tensor]
    ) -> Any:
        """Copies from and to the card, sums of gradients and sparse tensors need other means than fake kernels."""
        if func is aten._to_copy.default and not any(is_sparse(leaf) for leaf in leaves):
            moved = self._to_cpu(args, kwargs)
            return moved if moved is not None else self._to_card(args, kwargs)
        if self.backward.asks and not torch.is_grad_enabled():
            summed = self._accumulated(func, args)
            if summed is not None:
                return summed
        return on_sparse(self, func, args) if any(is_sparse(leaf) for leaf in leaves) else None

    def _run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        before, self.backward.in_operation = self.backward.in_operation, True
        try:
            # What `with self.fake` would lead to, without the way through the dispatcher.
            out = self.fake.dispatch(func, (), args, kwargs)
        except (DynamicOutputShapeException, DataDependentOutputException):
            return self._by_value(func, args, kwargs)
        finally:
            self.backward.in_operation = before
        if is_sparse(out):
            remember_indices(out, args)
        self.values.follow(func, args, kwargs, out)
        return out

    def _book_all(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> None:
        origin = self.origin()
        if self.matrices is not None:
            origin = self.matrices.seen(self, origin, func, args, out)
        name = str(func)
        made = [t for t in tensors_in((out,)) if isinstance(t, FakeTensor) and t.fake_device.type == self.device]
        for tensor in made:
            self.book(tensor, name, origin=origin)
        if made:
            self.kernels.extras(self, func, args, kwargs, out, origin)
        if self.matrices is not None:
            self.matrices.booked(origin, out)

    def book(self, tensor: torch.Tensor, op: str, category: str = "", origin: Origin | None = None) -> None:
        if tensor.layout is torch.sparse_coo:
            for part in (tensor._indices(), tensor._values()):
                self.book(part, op, category, origin)
        elif tensor.layout is torch.strided:
            self.ledger.add(tensor, origin or self.origin(), op, category)

    def origin(self) -> Origin:
        """Module and line of the operation at hand; in backward, those of the forward operation behind it."""
        node = torch._C._current_autograd_node() if self.backward.running else None
        if node is not None and not torch.is_grad_enabled():
            return self.origins.get(node._sequence_nr(), Origin("", None))
        origin = Origin(self.modules[-1] if self.modules else "", user_location())
        if torch.is_grad_enabled():
            self.origins[torch._C._autograd._get_sequence_nr() - 1] = origin
        return origin

    def _accumulated(self, func: Any, args: tuple[Any, ...]) -> Any:
        """The engine adds to the gradient that came first if nobody else holds it; of fake ones it makes a third."""
        if func is not aten.add.Tensor or len(args) != 2 or not _are_alike(*args) or not _held_once(args[0]):
            return None
        return self._run(aten.add_.Tensor, args, {})

    # -- where values are needed -----------------------------------------------------------------------------------

    def _read(self, tensor: Any) -> Any:
        value = value_of(tensor)
        if value is not None:
            return value.item()
        # Whole numbers are counts, and what counts none is passed over: they stay 1.
        number = self.read_as if tensor.is_floating_point() else 1
        self.assume(f"a number computed on the card is read; taken for {number}")
        return True if tensor.dtype is torch.bool else float(number) if tensor.is_floating_point() else number

    def _to_cpu(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A known value that is copied back becomes a real tensor again."""
        target = kwargs.get("device")
        if target is None or torch.device(target).type != "cpu":
            return None
        source = args[0]
        if self.backward.asks or not isinstance(source, FakeTensor) or source.fake_device.type == "cpu":
            return None
        value = value_of(source)
        return None if value is None else value.to(dtype=kwargs.get("dtype"), copy=True)

    def _to_card(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A real tensor that is copied to the card keeps its value there if it is one of those that matter."""
        if isinstance(args[0], FakeTensor):
            return None
        source: torch.Tensor = args[0]
        dtype = kwargs.get("dtype") or source.dtype
        layout = torch.empty_like(source, dtype=dtype, device="meta", memory_format=_format_of(kwargs))
        with self.fake:
            made = torch.empty_strided(layout.shape, layout.stride(), dtype=dtype, device=kwargs["device"])
        if worth_keeping(source):
            give_value(made, source.to(dtype=dtype, copy=True))
        note_input(self, source)
        self.book(made, "copy to the card", "data")
        return made

    def _with_true_indices(self, func: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Masks used as indices become the positions that they select, as the card would make of them."""
        if func not in _INDEXING or not any(_is_mask(i) for i in args[1]):
            return args
        indices: list[Any] = []
        for index in args[1]:
            indices += self._positions(index) if _is_mask(index) else [index]
        return (args[0], indices, *args[2:])

    def _positions(self, mask: torch.Tensor) -> list[torch.Tensor]:
        value = value_of(mask)
        if value is None:
            self.assume("a mask computed on the card selects; taken to select everything")
        count = int(value.count_nonzero()) if value is not None else mask.numel()
        device = mask.device if isinstance(mask, FakeTensor) else torch.device("cpu")
        found = self.make((mask.dim(), count), torch.int64, device, "nonzero") if device.type != "cpu" else None
        if found is None:
            return list(value.nonzero().unbind(1)) if value is not None else [mask]
        if value is not None:
            give_value(found, value.nonzero().t().contiguous())
        with self.fake:
            parts = list(found.unbind(0))
        if value is not None:
            for part, true in zip(parts, value.nonzero().unbind(1), strict=True):
                give_value(part, true)
        return parts

    def _by_value(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An operation whose result depends on numbers: computed on the true ones, or its largest result."""
        device = next(
            leaf.fake_device for leaf in tensors_in((*args, *kwargs.values())) if isinstance(leaf, FakeTensor)
        )
        computed = self.values.compute(func, args, kwargs)
        known = computed is not None
        if computed is None and func in _SHAPED_BY_WHOLE_NUMBERS:
            args = tree_map(_stand_in, args)
            computed = self.values.compute(func, args, kwargs)
        if computed is None:
            computed = self._largest(func, args, kwargs)
        # The batch sizes of a packed sequence stay on the CPU.
        sizes = computed[1] if func is aten._pack_padded_sequence.default else None

        def faked(thing: Any) -> Any:
            if not isinstance(thing, torch.Tensor) or thing is sizes:
                return thing
            with self.fake:
                made = torch.empty_strided(thing.shape, thing.stride(), dtype=thing.dtype, device=device)
            whole = not (thing.is_floating_point() or thing.is_complex())
            if thing.device.type != "meta" and worth_keeping(thing) and (whole or known):
                give_value(made, thing)
            return made

        return tree_map(faked, computed)

    def _largest(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        source = args[0]
        name = func._schema.name.removeprefix("aten::")
        self.assume(f"the result of `{name}` depends on numbers computed on the card; taken for the largest possible")
        count = source.numel()
        if name == "nonzero":
            return torch.empty((count, source.dim()), dtype=torch.int64, device="meta")
        if name in ("masked_select",):
            return torch.empty((count,), dtype=source.dtype, device="meta")
        if name in ("_unique2", "unique_consecutive", "_unique", "unique_dim"):
            whole = torch.empty(source.shape if name == "unique_dim" else (count,), dtype=source.dtype, device="meta")
            places = torch.empty(source.shape, dtype=torch.int64, device="meta")
            return whole, places, torch.empty((count,), dtype=torch.int64, device="meta")
        if name in ("equal", "is_nonzero", "allclose"):
            return True
        raise CannotFollow(f"`{name}` gives a result whose shape depends on numbers computed on the card")


def _check_devices(batch: torch.Tensor, weight: torch.Tensor) -> None:
    """A batch that was not moved to the card: fake convolutions take it, those of a card do not."""
    if batch.device.type != weight.device.type:
        raise RuntimeError(f"Input type ({batch.type()}) and weight type ({weight.type()}) should be the same")


class CannotFollow(RuntimeError):
    """The script does something that needs the true numbers of the card."""


_SHAPED_BY_WHOLE_NUMBERS = {aten._pack_padded_sequence.default, aten.masked_select.default}

_INDEXING = {
    aten.index.Tensor,
    aten.index_put.default,
    aten.index_put_.default,
    aten._index_put_impl_.default,
    aten._unsafe_index.Tensor,
}


def _format_of(kwargs: dict[str, Any]) -> torch.memory_format:
    return kwargs.get("memory_format") or torch.preserve_format


def _stand_in(thing: Any) -> Any:
    """A tensor of the same shape for one whose numbers do not matter; it takes no room."""
    if not isinstance(thing, FakeTensor) or value_of(thing) is not None:
        return thing
    return torch.zeros((), dtype=thing.dtype).expand(thing.shape) if thing.is_floating_point() else thing


def _is_mask(index: Any) -> bool:
    return isinstance(index, torch.Tensor) and index.dtype in _MASKS


def _made_on_card(kwargs: dict[str, Any]) -> bool:
    device = kwargs.get("device")
    return device is not None and torch.device(device).type == "cuda"


def _are_alike(one: Any, other: Any) -> bool:
    """Whether two may be gradients of the same: formulas of derivatives add what is of other shapes, too."""
    both = isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)
    return both and one.shape == other.shape and one.dtype == other.dtype


def _held_once(tensor: Any) -> bool:
    """Whether the engine's buffer alone holds a tensor (and we, while we look at it)."""
    if type(tensor) is not FakeTensor or not _is_dense(tensor):
        return False
    storage = tensor.untyped_storage()
    held: int = tensor._use_count()  # type: ignore[attr-defined]
    return held <= _LOOKED_AT and torch._C._storage_Use_Count(storage._cdata) <= _LOOKED_AT_STORAGE


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether the elements fill their room without gaps or overlaps, in whatever order."""
    expected = 1
    for size, stride in sorted(zip(tensor.shape, tensor.stride(), strict=True), key=lambda pair: pair[::-1]):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True


# The buffer's reference and those of the call that brings the tensor here.
_LOOKED_AT = 4
_LOOKED_AT_STORAGE = 2
