"""What was seen of the machine and the installed packages around a run."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class Package:
    """An installed distribution; `wants_torch` is the torch it declares or was built for, where it says so."""

    name: str
    version: str
    wants_torch: str = ""


@fact
class OpenmpRuntime:
    """An OpenMP library mapped into the process, the package that brings it, and the script's import of that."""

    name: str
    package: str = ""
    imported: Location | None = None


@fact
class Environment(Observation):
    """Python, torch, the cards and their driver, and what else is loaded. `torch_cuda` is empty for a CPU build."""

    kind: ClassVar[str] = "environment"
    python: str = ""
    platform: str = ""
    torch: str = ""
    torch_cuda: str = ""
    torch_hip: str = ""
    packages: tuple[Package, ...] = ()
    gpus: tuple[str, ...] = ()
    driver: str = ""
    driver_cuda: str = ""
    visible_devices: str | None = None
    openmp: tuple[OpenmpRuntime, ...] = ()
    duplicate_openmp_allowed: bool = False
    shared_memory_total: int | None = None
    shared_memory_free: int | None = None
    step: int | None = None

    def package(self, name: str) -> Package | None:
        wanted = name.lower().replace("_", "-")
        return next((p for p in self.packages if p.name.lower().replace("_", "-") == wanted), None)


@fact
class FailedImport(Observation):
    """An import that failed, and what is there instead: near names, files of the project, the library's version."""

    kind: ClassVar[str] = "failed-import"
    module: str
    wanted_name: str = ""
    near_modules: tuple[str, ...] = ()
    near_names: tuple[str, ...] = ()
    project_files: tuple[str, ...] = ()
    distribution: str = ""
    version: str = ""
    step: int | None = None


@fact
class ShadowedModule(Observation):
    """A file of the user's that is imported in place of a library of the same name."""

    kind: ClassVar[str] = "shadowed-module"
    module: str
    local: Location
    library: str
    step: int | None = None


@fact
class Network(Observation):
    """One look at the outside world, with a time-out of seconds. Hosts only: never a login or a full address.

    `state` is "open", "no-names" (no host name resolves), "refused", "timeout", or "login-page".
    """

    kind: ClassVar[str] = "network"
    state: str
    asked: str
    wanted_host: str = ""
    wanted_host_resolves: bool | None = None
    proxy: str = ""
    answered_by: str = ""
    step: int | None = None


@fact
class PageInFile(Observation):
    """A file that should hold data and holds a web page."""

    kind: ClassVar[str] = "page-in-file"
    file: str
    title: str = ""
    size: int = 0
    step: int | None = None


@fact
class HostWait:
    """Time spent on connecting to one host."""

    host: str
    seconds: float
    attempts: int
    failed: int
    at: Location | None = None


@fact
class StartUp(Observation):
    """Where the time before the first optimizer step went; imports are told by top-level package, without overlap.

    `crowded`: more programs wanted to run than there are processors, so that the times are not this script's own.
    """

    kind: ClassVar[str] = "start-up"
    seconds: float
    imports: dict[str, float] = field(default_factory=dict)
    waits: tuple[HostWait, ...] = ()
    weights: float = 0.0
    reached_step: bool = False
    crowded: bool = False
    step: int | None = None


@fact
class InstructionRefused(Observation):
    """The processor refused an instruction, and the script was started again with a setting that forbids it."""

    kind: ClassVar[str] = "instruction-refused"
    variable: str
    value: str
    native_stack: tuple[str, ...] = ()
    status: int = 0
    step: int | None = None
