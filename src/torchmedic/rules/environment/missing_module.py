"""An import of something that is not installed, or that is called otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, FailedImport, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.environment._crashes import import_line, links, missing_module
from torchmedic.rules.environment._moves import MOVED_MODULES
from torchmedic.rules.environment._packages import TORCH_EXTENSIONS, misspelt, pip_name


class MissingModule(Rule):
    """No module of that name is found."""

    code = "ENV009"
    name = "missing-module"
    symptoms = (Symptom.IMPORT_FAILS, Symptom.CRASH)
    tell_apart = "the exception is ModuleNotFoundError, and no file of the project has that name"
    needs = (Crash,)
    folds = ("ERR",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for crash in links(run):
            module = missing_module(crash)
            if not module or module.partition(".")[0] in TORCH_EXTENSIONS or module in MOVED_MODULES:
                continue
            seen = next((f for f in run.all(FailedImport) if f.module == module), None)
            if seen is None or not seen.project_files:
                yield self._missing(run, module, seen)
            return

    def _missing(self, run: Run, module: str, seen: FailedImport | None) -> Diagnosis:
        parent, _, last = module.rpartition(".")
        there = seen.near_modules if seen else ()
        meant = misspelt(module, there)
        near = meant or (there[0] if there else "")
        package = pip_name(module)
        inside = f"`{parent}` has no module `{last}`" if parent else f"no module `{module}` is installed"
        return self.diagnose(
            headline=inside + (f"; `{near}` is there" if near in there else ""),
            confidence="proven",
            where=import_line(run, module),
            mark=module,
            label=f"nearest name: `{near}`" if near else "not found",
            culprit=Culprit(phase="setup", module=module),
            evidence=_evidence(parent, package, last, seen),
            remedies=_of_slip(meant, is_there=meant in there) if meant else _cures(module, near, package, seen),
        )


def _evidence(parent: str, package: str, last: str, seen: FailedImport | None) -> tuple[str, ...]:
    if parent and seen is not None and seen.distribution:
        return (f"{seen.distribution} {seen.version} is installed, and this part is not in it",)
    if not parent and package != last:
        return (f"the package that provides `{last}` is called `{package}`",)
    return ()


def _of_slip(meant: str, *, is_there: bool) -> tuple[Remedy, ...]:
    """Nothing is to be installed under the misspelt name: strangers offer packages under such names."""
    cure = Remedy(title=f"import `{meant}`")
    return (cure,) if is_there else (cure, Remedy(title=f"and install that: `python -m pip install {pip_name(meant)}`"))


def _cures(module: str, near: str, package: str, seen: FailedImport | None) -> tuple[Remedy, ...]:
    parent = module.rpartition(".")[0]
    if near:
        spelt = f"{parent}.{near}" if parent else near
        return (Remedy(title=f"import `{spelt}`"), Remedy(title=f"or install it: `python -m pip install {package}`"))
    if seen is not None and seen.distribution:
        return (Remedy(title=f"install the version this code was written for: `python -m pip install -U {package}`"),)
    return (Remedy(title=f"`python -m pip install {package}`, with the Python that runs the script"),)
