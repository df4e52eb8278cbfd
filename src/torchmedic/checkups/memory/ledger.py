"""Every piece of device memory with the line, module and phase it was made in, and the moment when most was held."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parameter import is_lazy

from torchmedic.checkups.memory.allocator import Block, CachingAllocator
from torchmedic.facts import Location

if TYPE_CHECKING:
    from torchmedic.checkups.memory.matrices import Role

# The phases whose work is the same from step to step when the batches are of one size.
_REPEATED = ("forward", "backward")


@dataclass(slots=True, eq=False)
class Holding:
    """One storage: its bytes (as the allocator counts them), and where it came from."""

    bytes: int
    phase: str
    step: int
    module: str
    where: Location | None
    op: str
    shape: tuple[int, ...]
    dtype: str
    category: str = ""
    saved: bool = False


# Every piece as it was taken (True) and given back.
Log = list[tuple[bool, Holding]]


@dataclass(slots=True)
class _Entry:
    holding: Holding
    block: Block
    requested: int
    watch: weakref.ref[torch.UntypedStorage]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an operation belongs: module path and the user's line, and the attention that it is a part of."""

    module: str
    where: Location | None
    role: Role | None = None


class Ledger:
    """Books every storage of one device as it appears and disappears."""

    def __init__(self, device: str, *, expandable: bool = False) -> None:
        self.device = device
        self.allocator = CachingAllocator(expandable=expandable)
        self.phase = "setup"
        self.step = 0
        self.phase_peaks: dict[str, int] = {}
        self.step_peaks: dict[int, int] = {}
        self.made_in_step = 0
        self._entries: dict[int, _Entry] = {}
        self.log: Log = []
        self._peak = 0
        self._peak_at = 0
        self.peak_phase = "setup"
        self.peak_step = 0
        self.peak_origin = Origin("", None)

    # -- booking ---------------------------------------------------------------------------------------------------

    def add(self, tensor: torch.Tensor, origin: Origin, op: str, category: str = "") -> None:
        """Book a tensor's storage unless it is known (a view, or changed in place)."""
        storage = tensor.untyped_storage()
        key, size = id(storage), int(storage.nbytes())
        known = self._entries.get(key)
        if known is not None:
            if known.requested == size:
                return
            self._remove(key)
        if size == 0:
            return
        holding = Holding(
            bytes=0,
            phase=self.phase,
            step=self.step,
            module=origin.module,
            where=origin.where,
            op=op,
            shape=tuple(tensor.shape),
            dtype=str(tensor.dtype).removeprefix("torch."),
            category=category,
        )
        block = self._open(holding, size)
        if origin.role is not None:
            origin.role.matrix.note(holding, tensor.numel())
        self._entries[key] = _Entry(holding, block, size, weakref.ref(storage, lambda _: self._remove(key)))

    def pass_through(self, sizes: list[int], origin: Origin, op: str, category: str = "") -> None:
        """Memory that a kernel takes and gives back before it returns."""
        with self.taken_meanwhile(sizes, origin, op, category):
            pass

    @contextlib.contextmanager
    def taken_meanwhile(self, sizes: list[int], origin: Origin, op: str, category: str = "") -> Iterator[None]:
        """The same for what several kernels in turn have in common."""
        opened = []
        for size in sizes:
            if size > 0:
                holding = Holding(0, self.phase, self.step, origin.module, origin.where, op, (size,), "uint8", category)
                opened.append((holding, self._open(holding, size), size))
                if origin.role is not None:
                    origin.role.matrix.note_bytes(holding, size)
        yield
        for holding, block, size in reversed(opened):
            self._close(holding, block, size)

    def keep(self, size: int, op: str, category: str) -> None:
        """Memory that is taken once and stays; steps are not to be told apart by it."""
        holding = Holding(0, self.phase, self.step, "", None, op, (size,), "uint8", category)
        made = self.made_in_step
        self._open(holding, size)
        self.made_in_step = made

    def mark(self, tensor: Any, category: str, module: str = "") -> None:
        """Say what a booked tensor is, and whose, where it was not made in a module."""
        if isinstance(tensor, torch.Tensor) and tensor.layout is torch.sparse_coo:
            self.mark(tensor._indices(), category, module)
            self.mark(tensor._values(), category, module)
            return
        entry = self._entry(tensor)
        if entry is not None:
            entry.holding.category = category
            entry.holding.module = entry.holding.module or module

    def module_of(self, tensor: Any) -> str:
        entry = self._entry(tensor)
        return entry.holding.module if entry is not None else ""

    def category_of(self, tensor: Any) -> str:
        entry = self._entry(tensor)
        return entry.holding.category if entry is not None else ""

    def holding_of(self, tensor: Any) -> Holding | None:
        entry = self._entry(tensor)
        return entry.holding if entry is not None else None

    def mark_saved(self) -> None:
        """What the forward pass has left when backward begins are activations."""
        for entry in self._entries.values():
            if entry.holding.phase == "forward":
                entry.holding.saved = True

    def holdings(self) -> list[Holding]:
        """What is held now."""
        return [entry.holding for entry in self._entries.values()]

    def holdings_at_peak(self) -> list[Holding]:
        """What was held when most was."""
        return held_after(self.log[: self._peak_at])

    @property
    def booked(self) -> int:
        """How many bookings there were."""
        return len(self.log)

    @property
    def peak(self) -> int:
        return self._peak

    def _entry(self, tensor: Any) -> _Entry | None:
        if not isinstance(tensor, torch.Tensor) or is_lazy(tensor) or tensor.layout != torch.strided:
            return None
        return self._entries.get(id(tensor.untyped_storage()))

    def _open(self, holding: Holding, size: int) -> Block:
        allocator = self.allocator
        block = allocator.allocate(size)
        allocator.requested += size
        allocator.peak_requested = max(allocator.peak_requested, allocator.requested)
        holding.bytes = block.size
        if self.phase in _REPEATED:
            self.made_in_step += size
        self.log.append((True, holding))
        now = allocator.allocated
        if now > self.phase_peaks.get(self.phase, 0):
            self.phase_peaks[self.phase] = now
        if now > self.step_peaks.get(self.step, 0):
            self.step_peaks[self.step] = now
        if now > self._peak:
            self._peak, self._peak_at = now, len(self.log)
            self.peak_phase, self.peak_step = self.phase, self.step
            self.peak_origin = Origin(holding.module, holding.where)
        return block

    def _remove(self, key: int) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._close(entry.holding, entry.block, entry.requested)

    def _close(self, holding: Holding, block: Block, size: int) -> None:
        self.allocator.release(block)
        self.allocator.requested -= size
        self.log.append((False, holding))


def held_after(log: Log) -> list[Holding]:
    """What was taken and not given back."""
    alive: dict[int, Holding] = {}
    for opened, holding in log:
        if opened:
            alive[id(holding)] = holding
        else:
            alive.pop(id(holding), None)
    return list(alive.values())
