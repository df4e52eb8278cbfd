"""The run and its environment as rows of a table."""

from __future__ import annotations

from torchmedic.facts import Environment, Run
from torchmedic.render.html.text import say


def rows(run: Run) -> list[tuple[str, str]]:
    """Names and values; what is not known is left out."""
    info, seen = run.info, run.first(Environment) or Environment()
    build = f"CUDA {seen.torch_cuda}" if seen.torch_cuda else f"ROCm {seen.torch_hip}" if seen.torch_hip else ""
    torch = seen.torch or info.torch
    packages = ", ".join(f"{p.name} {p.version}" for p in seen.packages if p.name != "torch")
    found = {
        "env_script": " ".join(info.argv),
        "env_folder": info.cwd,
        "env_run": info.folder,
        "env_python": seen.python or info.python,
        "env_torch": f"{torch} ({build})" if torch and build else torch,
        "env_platform": seen.platform,
        "env_gpus": ", ".join(seen.gpus),
        "env_driver": f"{seen.driver} (CUDA {seen.driver_cuda})" if seen.driver and seen.driver_cuda else seen.driver,
        "env_packages": packages,
    }
    return [(say(name), value) for name, value in found.items() if value]
