"""One look at Python, torch, the cards, the driver and the loaded libraries."""

from __future__ import annotations

import importlib.util
import linecache
import os
import platform
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

from torchmedic.checkups.environment.cards import visible_cards
from torchmedic.checkups.environment.script import script_file
from torchmedic.facts import Environment, Location, OpenmpRuntime, Package
from torchmedic.probes.source.frames import location

# What is built against torch or NumPy, or brings its own OpenMP.
_OF_INTEREST = (
    "torch", "torchvision", "torchaudio", "torchtext", "torchdata", "torch-geometric", "pyg-lib", "torch-scatter",
    "torch-sparse", "torch-cluster", "torch-spline-conv", "flash-attn", "xformers", "triton", "bitsandbytes",
    "deepspeed", "apex", "numpy", "pandas", "scipy", "scikit-learn", "matplotlib", "opencv-python",
    "opencv-python-headless", "lightning", "pytorch-lightning", "transformers", "accelerate", "safetensors",
)  # fmt: skip
_OPENMP = re.compile(r"/(lib(?:gomp|iomp5|omp)\b[^/\s]*)$")


def survey() -> Environment:
    """The environment of this process. Reads files and metadata only: torch is not imported by it."""
    version, cuda, hip = torch_build()
    cards = visible_cards()
    memory = _shared_memory()
    return Environment(
        python=platform.python_version(),
        platform=f"{sys.platform}-{platform.machine()}",
        torch=version,
        torch_cuda=cuda,
        torch_hip=hip,
        packages=tuple(_packages()),
        gpus=cards.names,
        driver=cards.driver,
        driver_cuda=cards.driver_cuda,
        visible_devices=os.environ.get("CUDA_VISIBLE_DEVICES"),
        openmp=loaded_openmp(),
        duplicate_openmp_allowed=os.environ.get("KMP_DUPLICATE_LIB_OK", "").upper() in ("TRUE", "1"),
        shared_memory_total=memory[0],
        shared_memory_free=memory[1],
    )


def torch_build() -> tuple[str, str, str]:
    """Version, CUDA and HIP of the installed torch, read from its `version.py`."""
    try:
        spec = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        spec = None
    origin = Path(spec.origin).parent / "version.py" if spec is not None and spec.origin else None
    if origin is None or not origin.exists():
        return "", "", ""
    text = origin.read_text(encoding="utf-8", errors="replace")
    return tuple(_assigned(text, name) for name in ("__version__", "cuda", "hip"))  # type: ignore[return-value]


def _assigned(text: str, name: str) -> str:
    match = re.search(rf"^{name}\s*(?::[^=\n]+)?=\s*['\"]([^'\"]*)['\"]", text, re.MULTILINE)
    return match.group(1) if match else ""


def _packages() -> list[Package]:
    found = []
    for name in _OF_INTEREST:
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        version = distribution.version or ""
        found.append(
            Package(name=name, version=version, wants_torch=_wants_torch(version, distribution.requires or []))
        )
    return found


def _wants_torch(version: str, requirements: list[str]) -> str:
    """The one torch a package fits: pinned in its metadata, or in its own version (`2.1.2+pt26cu124`)."""
    for requirement in requirements:
        match = re.match(r"torch\s*\(?\s*==\s*([\d.]+)", requirement)
        if match is not None:
            return match.group(1)
    built = re.search(r"\+pt(\d)(\d+)", version)
    return f"{built.group(1)}.{built.group(2)}" if built else ""


def loaded_openmp() -> tuple[OpenmpRuntime, ...]:
    """The OpenMP runtimes mapped into this process (Linux), each file once."""
    try:
        mapped = Path("/proc/self/maps").read_text(errors="replace")
    except OSError:
        return ()
    files = {match.group(1): line for line in mapped.splitlines() if (match := _OPENMP.search(line))}
    return tuple(_runtime(name, line) for name, line in sorted(files.items()))


def _runtime(name: str, mapped: str) -> OpenmpRuntime:
    match = re.search(r"/(?:site|dist)-packages/(\w+?)(?:\.libs)?/", mapped)
    package = match.group(1) if match else ""
    return OpenmpRuntime(name=name, package=package, imported=_imported_at(package) if package else None)


def _imported_at(package: str) -> Location | None:
    """The line of the script that imports a package."""
    file = script_file()
    wanted = re.compile(rf"^\s*(?:import|from)\s+{re.escape(package)}\b")
    numbers = (n for n, line in enumerate(linecache.getlines(file), start=1) if wanted.match(line))
    return next((location(file, n) for n in numbers), None)


def _shared_memory() -> tuple[int | None, int | None]:
    try:
        usage = shutil.disk_usage("/dev/shm")
    except OSError:
        return None, None
    return usage.total, usage.free
