"""A name that the installed version of a library does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, FailedImport, Run, ShadowedModule
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.environment._crashes import import_line, links, missing_module
from torchmedic.rules.environment._moves import MOVED_MODULES, MOVED_NAMES

_CANNOT = re.compile(r"cannot import name '([^']+)' from (?:partially initialized module )?'([\w.]+)'")


class VanishedImport(Rule):
    """The library is installed, but not with this name in it: another version, or a typing error."""

    code = "ENV015"
    name = "vanished-import"
    symptoms = (Symptom.IMPORT_FAILS, Symptom.CRASH)
    tell_apart = "the module itself is found (`cannot import name … from …`), or is one that its library has removed"
    needs = (Crash,)
    folds = ("ERR",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        if run.first(ShadowedModule) is not None:
            return
        for crash in links(run):
            module = missing_module(crash)
            match = _CANNOT.search(crash.message) if "circular import" not in crash.message else None
            if module in MOVED_MODULES:
                yield self._gone(run, f"`{module}`", module, module, MOVED_MODULES[module])
                return
            if match is not None:
                name, owner = match.groups()
                yield self._gone(run, f"`{name}`", owner, name, MOVED_NAMES.get((owner, name), ""))
                return

    def _gone(self, run: Run, what: str, module: str, mark: str, moved: str) -> Diagnosis:
        seen = next((f for f in run.all(FailedImport) if f.module == module), None)
        near = seen.near_names[0] if seen and seen.near_names and not moved else ""
        library = f"{seen.distribution} {seen.version}" if seen and seen.distribution else f"`{module}`"
        headline = f"{what} is not in {library}" if mark != module else f"{what} is no longer there"
        return self.diagnose(
            headline=headline + (f"; `{near}` is" if near else ""),
            confidence="proven",
            where=import_line(run, module),
            mark=mark,
            label=f"nearest name: `{near}`" if near else "not in the installed version",
            culprit=Culprit(phase="setup", module=module),
            evidence=(moved,) if moved else (),
            remedies=_cures(module, near, moved, seen),
        )


def _cures(module: str, near: str, moved: str, seen: FailedImport | None) -> tuple[Remedy, ...]:
    if near:
        return (Remedy(title=f"import `{near}` from `{module}`"),)
    if moved:
        how = moved.partition(": ")[2]
        return (Remedy(title=how if how else "write the code without it"),)
    package = seen.distribution if seen and seen.distribution else module.partition(".")[0]
    return (
        Remedy(title=f"look the name up in the documentation of this version: `python -m pip show {package}`"),
        Remedy(title=f"or install the version that the code was written for: `python -m pip install {package}==…`"),
    )
