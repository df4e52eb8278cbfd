"""A package compiled for another NumPy than the one installed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Environment, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.environment._crashes import links, quoted, user_line
from torchmedic.rules.environment._packages import pip_name

_SIGNS = re.compile(
    r"numpy\.\w+ size changed, may indicate binary incompatibility|compiled using NumPy 1\.x cannot be run in NumPy 2|"
    r"numpy\.core\.multiarray failed to import|_ARRAY_API not found|numpy\.core\.umath failed to import|"
    r"module compiled against A[BP]I version|^Numpy is not available$",
    re.MULTILINE,
)
_PACKAGE = re.compile(r"[\\/](?:site|dist)-packages[\\/](\w+)")


class NumpyAbiClash(Rule):
    """NumPy's binary interface differs from the one that a package was built with."""

    code = "ENV005"
    name = "numpy-abi-clash"
    symptoms = (Symptom.IMPORT_FAILS, Symptom.CRASH)
    tell_apart = "the message speaks of NumPy's binary interface (`dtype size changed`, `_ARRAY_API`), not of a module"
    needs = (Crash,)
    folds = ("ERR",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = next((c for c in links(run) if _SIGNS.search(c.message)), None)
        if crash is None:
            return
        package, where = _guilty(crash)
        environment = run.first(Environment)
        numpy = environment.package("numpy") if environment else None
        has = f"NumPy {numpy.version}" if numpy else "the installed NumPy"
        who = f"`{package}`" if package else "a package"
        yield self.diagnose(
            headline=f"{who} was compiled for another NumPy than {has}",
            confidence="proven",
            where=where or user_line(run),
            label="imports it",
            culprit=Culprit(phase="setup", module=package or "numpy"),
            evidence=(quoted(crash.message),),
            remedies=_cures(package, numpy.version if numpy else ""),
        )


def _guilty(crash: Crash) -> tuple[str, Location | None]:
    """The package whose import failed: the innermost frame that is not NumPy's, and the user's line that led there."""
    where = crash.user_frame.location if crash.user_frame else None
    for frame in reversed(crash.frames):
        match = _PACKAGE.search(frame.location.file)
        if match is not None and match.group(1) not in ("numpy", "importlib"):
            return match.group(1), where
    named = re.match(r"\s*(?:import|from)\s+(\w+)", where.source) if where else None
    return (named.group(1) if named else ""), where


def _cures(package: str, numpy: str) -> tuple[Remedy, ...]:
    cures = []
    if package and package != "torch":
        cures.append(Remedy(title=f"install a newer `{package}`: `pip install -U --no-cache-dir {pip_name(package)}`"))
    if not numpy or int(numpy.partition(".")[0]) >= 2:
        cures.append(Remedy(title='or go back to the older NumPy: `pip install "numpy<2"`'))
    else:
        cures.append(Remedy(title="or update NumPy: `pip install -U numpy`"))
    return tuple(cures)
