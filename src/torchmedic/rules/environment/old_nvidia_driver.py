"""A driver that is older than the CUDA that torch was built with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Environment, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.environment._crashes import links, user_line

# The oldest Linux driver that runs a CUDA of this major version.
_OLDEST_DRIVER = {11: "450.80.02", 12: "525.60.13", 13: "580.65.06"}


class OldNvidiaDriver(Rule):
    """The NVIDIA driver cannot run the CUDA of this torch."""

    code = "ENV002"
    name = "old-nvidia-driver"
    symptoms = (Symptom.CRASH, Symptom.NO_GPU)
    tell_apart = "the message says that the driver is too old; `torch.cuda.is_available()` is False on a CUDA build"
    needs = ()
    folds = ("ERR",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        environment = run.first(Environment)
        found = next((v for c in links(run) if (v := _version_in(c.message))), "")
        driver_cuda = found or (environment.driver_cuda if environment else "")
        built = environment.torch_cuda if environment else ""
        if not found and not _too_old(driver_cuda, built):
            return
        told = f" {environment.driver}" if environment and environment.driver else ""
        newer = f"torch is built for CUDA {built}" if built else "torch is built for a newer one"
        yield self.diagnose(
            headline=f"the NVIDIA driver{told} runs CUDA up to {driver_cuda}, and {newer}",
            confidence="proven",
            where=user_line(run),
            label="first use of the GPU",
            culprit=Culprit(phase="setup", module="torch"),
            evidence=_evidence(built),
            remedies=_cures(driver_cuda),
        )


def _version_in(message: str) -> str:
    """`found version 11040` is CUDA 11.4."""
    match = re.search(r"driver on your system is too old \(found version (\d+)\)", message)
    return f"{int(match.group(1)) // 1000}.{int(match.group(1)) % 1000 // 10}" if match else ""


def _too_old(driver: str, built: str) -> bool:
    """Within one major version newer builds run on older drivers."""
    return bool(driver and built) and int(driver.partition(".")[0]) < int(built.partition(".")[0])


def _evidence(built: str) -> tuple[str, ...]:
    oldest = _OLDEST_DRIVER.get(int(built.partition(".")[0])) if built else None
    return (f"CUDA {built} needs driver {oldest} or newer on Linux",) if oldest else ()


def _cures(driver_cuda: str) -> tuple[Remedy, ...]:
    major = int(driver_cuda.partition(".")[0])
    index = {11: "cu118", 12: "cu126"}.get(major)
    older = Remedy(
        title=f"or install a torch for this driver: `pip install --force-reinstall torch --index-url "
        f"https://download.pytorch.org/whl/{index}`"
    )
    update = Remedy(title="update the NVIDIA driver of the machine; inside a container, that of its host")
    return (update, older) if index else (update,)
