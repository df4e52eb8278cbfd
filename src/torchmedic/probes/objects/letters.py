"""Numbers on their way from a device to the host, behind the training's back."""

from __future__ import annotations

import torch

from torchmedic.late import late_dataclass
from torchmedic.probes.objects.pinned import borrow, give_back


@late_dataclass()
class Letter:
    """The copy is asked for at once, and read when it has arrived."""

    values: torch.Tensor
    count: int
    arrived: torch.cuda.Event | None = None

    def read(self) -> list[float]:
        if self.arrived is not None:
            self.arrived.synchronize()
        found: list[float] = self.values[: self.count].tolist()
        if self.arrived is not None:
            give_back(self.values)
        return found


def send(numbers: list[torch.Tensor]) -> Letter:
    """Single numbers of one device, in one letter."""
    plain = [n if n.dtype is torch.float32 and not n.ndim else n.float().reshape(()) for n in numbers]
    stacked = torch.stack(plain).detach()
    if stacked.device.type != "cuda":
        return Letter(stacked.cpu(), len(numbers))
    host = borrow(len(numbers))
    host[: len(numbers)].copy_(stacked, non_blocking=True)
    arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
    arrived.record(torch.cuda.current_stream(stacked.device))
    return Letter(host, len(numbers), arrived)


def by_device(numbers: list[torch.Tensor]) -> list[list[int]]:
    """The positions of the numbers on each device."""
    found: dict[torch.device, list[int]] = {}
    for position, number in enumerate(numbers):
        found.setdefault(number.device, []).append(position)
    return list(found.values())


def read_now(numbers: list[torch.Tensor]) -> list[float]:
    """Single numbers in their order, with one wait for each device."""
    for number in numbers:  # no generator: this is asked in every step
        if not number.is_cpu:
            break
    else:
        return [float(number) for number in numbers]
    found = [0.0] * len(numbers)
    for positions in by_device(numbers):
        for position, value in zip(positions, send([numbers[i] for i in positions]).read(), strict=True):
            found[position] = value
    return found
