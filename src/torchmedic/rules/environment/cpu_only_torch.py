"""A build of torch without CUDA, asked for a GPU or installed beside one."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Environment, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.environment._crashes import device_line, links, user_line
from torchmedic.rules.environment._packages import torch_of

_DEVICE = 'device = "cuda" if torch.cuda.is_available() else "cpu"'


class CpuOnlyTorch(Rule):
    """torch is a CPU build."""

    code = "ENV001"
    name = "cpu-only-torch"
    symptoms = (Symptom.CRASH, Symptom.NO_GPU, Symptom.SLOW_STEP)
    tell_apart = "`torch.version.cuda` is None; the message is `Torch not compiled with CUDA enabled`"
    needs = ()

    def check(self, run: Run) -> Iterator[Diagnosis]:
        environment = run.first(Environment)
        crash = next((c for c in links(run) if "not compiled with CUDA enabled" in c.message), None)
        beside_gpu = environment is not None and environment.gpus and _is_cpu_build(environment)
        if crash is not None:
            yield self._on_crash(run, crash, environment)
        elif beside_gpu and environment is not None and run.first(Crash) is None:
            yield self.diagnose(
                severity="warning",
                headline=f"torch {environment.torch} is a CPU-only build beside {_cards(environment)}",
                confidence="proven",
                culprit=Culprit(phase="setup", module="torch"),
                evidence=(_driver(environment),),
                remedies=(_reinstall(environment),),
            )

    def _on_crash(self, run: Run, crash: Crash, environment: Environment | None) -> Diagnosis:
        version, _ = torch_of(run)
        here = bool(environment and environment.gpus)
        evidence: tuple[str, ...] = ()
        if environment is not None:
            seen = _driver(environment) if here else "no NVIDIA GPU is visible on this machine"
            evidence = (seen,)
        named, failed = device_line(run, crash), user_line(run, crash)
        choose = Remedy(title=f"choose the device that is there: `{_DEVICE}`")
        reinstall = _reinstall(environment)
        return self.diagnose(
            headline=f"torch {version} is a CPU-only build, and this line asks it for CUDA".replace("  ", " "),
            confidence="proven",
            where=named,
            label="needs a CUDA build of torch",
            also=(Also(location=failed, why="refused here"),) if failed is not None and failed != named else (),
            culprit=Culprit(phase="setup", module="torch"),
            evidence=evidence,
            remedies=(reinstall, choose) if here else (choose, reinstall),
        )


def _is_cpu_build(environment: Environment) -> bool:
    return bool(environment.torch) and not environment.torch_cuda and not environment.torch_hip


def _cards(environment: Environment) -> str:
    first = environment.gpus[0]
    return f"`{first}`" if len(environment.gpus) == 1 else f"{len(environment.gpus)} GPUs (`{first}`, …)"


def _driver(environment: Environment) -> str:
    supports = f", which runs CUDA up to {environment.driver_cuda}" if environment.driver_cuda else ""
    driver = f"driver {environment.driver}{supports}" if environment.driver else "no driver answers"
    return f"the machine has {_cards(environment)}; {driver}"


def _reinstall(environment: Environment | None) -> Remedy:
    """The CUDA build to install; a conda or pip line without an index often brings the CPU build back."""
    return Remedy(
        title="install a CUDA build: `pip install --force-reinstall torch --index-url "
        f"https://download.pytorch.org/whl/{cuda_index(environment)}`",
    )


def cuda_index(environment: Environment | None) -> str:
    """The folder of wheels that a driver can run."""
    supported = environment.driver_cuda if environment else ""
    major = int(supported.partition(".")[0]) if supported else 12
    return "cu130" if major >= 13 else "cu118" if major <= 11 else "cu126"
