"""A compiled extension that was built against another torch than the one installed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Environment, Package, Run, ShadowedModule
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.environment._crashes import import_line, links, quoted
from torchmedic.rules.environment._packages import TORCH_EXTENSIONS, install_line, placeholders, torch_of

_UNDEFINED = re.compile(r"undefined symbol: (\S+)|Symbol not found: (\S+)")
_TORCH_SYMBOL = re.compile(r"c10|2at\d|5torch|aoti|THP|torch")
_OTHER_SIGNS = re.compile(
    r"operator torchvision::\w+ does not exist|compiled with different CUDA (?:major )?versions|"
    r"Detected that PyTorch and \S+ were compiled with different CUDA|DLL load failed while importing|"
    # torchvision registers its operators first thing, and says so when those of its compiled part are not there.
    r"partially initialized module 'torchvision'(?: from '[^']+')? has no attribute|libcudart\S* cannot open|"
    r"libtorch\S*: cannot open|The specified procedure could not be found"
)


class ExtensionBuiltForOtherTorch(Rule):
    """The symbols that an extension looks for are not in this torch."""

    code = "ENV003"
    name = "extension-built-for-other-torch"
    symptoms = (Symptom.IMPORT_FAILS, Symptom.CRASH, Symptom.DEATH)
    tell_apart = "the package is installed, but its compiled library does not load (`undefined symbol`)"
    needs = ()
    folds = ("ERR",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for crash in links(run) if run.first(ShadowedModule) is None else ():
            package = _package_in(crash)
            if package and _is_mismatch(crash):
                yield self._on_crash(run, crash, package)
                return
        environment = run.first(Environment)
        if environment is not None and run.first(Crash) is None:
            version, _ = torch_of(run)
            for installed in environment.packages:
                if _misfits(installed, version):
                    yield self._on_survey(run, installed, version)

    def _on_crash(self, run: Run, crash: Crash, package: str) -> Diagnosis:
        environment = run.first(Environment)
        installed = environment.package(package) if environment else None
        version, _ = torch_of(run)
        match = _UNDEFINED.search(crash.message)
        symbol = next((group for group in match.groups() if group), "") if match else ""
        against = f"torch {version}" if version else "the torch that is installed"
        has = f"{package} {installed.version}" if installed else package
        return self.diagnose(
            headline=f"the compiled part of `{package}` does not fit {against}",
            confidence="proven" if symbol else "likely",
            where=import_line(run, package),
            label=f"loads `{has}`",
            culprit=Culprit(phase="setup", module=package),
            evidence=_evidence(crash, symbol, installed),
            remedies=_cures(package, run),
        )

    def _on_survey(self, run: Run, installed: Package, version: str) -> Diagnosis:
        module = installed.name.replace("-", "_")
        return self.diagnose(
            severity="warning",
            headline=f"{installed.name} {installed.version} is built for torch {installed.wants_torch}, not {version}",
            confidence="proven",
            culprit=Culprit(phase="setup", module=module),
            remedies=_cures(module, run),
        )


def _is_mismatch(crash: Crash) -> bool:
    match = _UNDEFINED.search(crash.message)
    if match is not None:
        return bool(_TORCH_SYMBOL.search(match.group(1) or match.group(2)))
    return bool(_OTHER_SIGNS.search(crash.message))


def _package_in(crash: Crash) -> str:
    """The extension that the message or the innermost frames name."""
    texts = [crash.message, *(frame.location.file for frame in reversed(crash.frames))]
    for text in texts:
        for name in TORCH_EXTENSIONS:
            if re.search(rf"(?<![\w]){name}(?:_cuda|_cpu|\b|/|\\|_2)", text.replace("-", "_")):
                return name
    return ""


def _evidence(crash: Crash, symbol: str, installed: Package | None) -> tuple[str, ...]:
    found = [f"the loader misses `{symbol}`, a symbol of torch's own library" if symbol else quoted(crash.message)]
    if installed is not None and installed.wants_torch:
        found.append(f"{installed.name} {installed.version} says that it is built for torch {installed.wants_torch}")
    return tuple(found)


def _cures(package: str, run: Run) -> tuple[Remedy, ...]:
    line = install_line(package, run).replace("pip install", "pip install --force-reinstall --no-cache-dir", 1)
    cures = [Remedy(title=f"install the matching build: `{line}`", detail=placeholders(line))]
    if TORCH_EXTENSIONS[package]:
        name = package.replace("_", "-")
        cures.append(Remedy(title=f"or `pip uninstall {name}`: it is optional", detail=TORCH_EXTENSIONS[package]))
    return tuple(cures)


def _misfits(installed: Package, torch: str) -> bool:
    wanted = installed.wants_torch.split(".")
    is_extension = installed.name.replace("-", "_") in TORCH_EXTENSIONS
    return bool(installed.wants_torch and torch) and is_extension and torch.split(".")[:2] != wanted[:2]
