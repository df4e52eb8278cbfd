"""Which NVIDIA cards this machine has, asked of the driver, then of the kernel, then of the PCI bus."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_NVIDIA = "0x10de"
_DISPLAY = ("0x0300", "0x0302")


@dataclass(frozen=True)
class Cards:
    """The cards seen; the driver's fields are empty where no driver answers."""

    names: tuple[str, ...] = ()
    driver: str = ""
    driver_cuda: str = ""


def visible_cards() -> Cards:
    """The cards, whether or not their driver works."""
    return _from_driver() or _from_kernel(Path("/proc/driver/nvidia")) or _from_bus(Path("/sys/bus/pci/devices"))


def _from_driver() -> Cards | None:
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
        supported = int(pynvml.nvmlSystemGetCudaDriverVersion_v2())
        return Cards(
            names=tuple(_text(pynvml.nvmlDeviceGetName(handle)) for handle in handles),
            driver=_text(pynvml.nvmlSystemGetDriverVersion()),
            driver_cuda=f"{supported // 1000}.{supported % 1000 // 10}",
        )
    except pynvml.NVMLError:
        return None
    finally:
        pynvml.nvmlShutdown()


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _from_kernel(root: Path) -> Cards | None:
    """The driver's own files, readable in containers that hide its library."""
    names = []
    for file in sorted(root.glob("gpus/*/information")):
        match = re.search(r"^Model:\s*(.+)$", _content(file), re.MULTILINE)
        names.append(match.group(1).strip() if match else "NVIDIA GPU")
    if not names:
        return None
    version = re.search(r"Kernel Module[^\d\n]*(\d+\.\d+(?:\.\d+)?)", _content(root / "version"))
    return Cards(names=tuple(names), driver=version.group(1) if version else "")


def _from_bus(root: Path) -> Cards:
    """Cards on the bus without a working driver."""
    found = [
        f"NVIDIA card at PCI {device.name}"
        for device in sorted(root.glob("*"))
        if _content(device / "vendor").strip() == _NVIDIA and _content(device / "class").startswith(_DISPLAY)
    ]
    return Cards(names=tuple(found))


def _content(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""
