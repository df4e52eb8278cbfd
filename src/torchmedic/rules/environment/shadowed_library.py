"""A file of the user's with the name of a library."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import PurePath

from torchmedic.facts import Crash, Location, Run, ShadowedModule
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.environment._crashes import first_line, import_line, links


class ShadowedLibrary(Rule):
    """Python found the user's file first and imported it in place of the library."""

    code = "ENV010"
    name = "shadowed-library"
    symptoms = (Symptom.IMPORT_FAILS, Symptom.CRASH)
    tell_apart = "the module that lacks the name comes from your own folder: look at its `__file__`"
    needs = (Crash,)
    folds = ("ERR", "vanished-import", "missing-module")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = run.first(Crash)
        for shadow in [*run.all(ShadowedModule), *_told_in(run)]:
            call = import_line(run, shadow.module)
            name = PurePath(shadow.local.file)
            shown = name.parent.name + "/" if name.name == "__init__.py" else name.name
            yield self.diagnose(
                headline=f"your `{shown}` is imported in place of {shadow.library}",
                confidence="proven",
                where=shadow.local,
                label=f"found before the library `{shadow.module}`",
                also=(Also(location=call, why="failed here"),) if call and str(call) != str(shadow.local) else (),
                culprit=Culprit(phase="setup", module=shadow.module),
                evidence=(_said(crash),) if crash else (),
                remedies=(Remedy(title=f"rename `{shown}`, and every import of it", detail=_leftover(shadow.module)),),
            )
            return


def _told_in(run: Run) -> Iterator[ShadowedModule]:
    """A module of Python itself that comes from a file outside its library, as a pasted message tells."""
    for crash in links(run):
        match = re.search(r"from (?:partially initialized module )?'(\w+)' \(([^()]+?\.py)\)", crash.message)
        if match is None or match.group(1) not in sys.stdlib_module_names:
            continue
        if not re.search(r"(?i)[\\/]lib(?:64)?[\\/]|(?:site|dist)-packages", match.group(2)):
            here = Location(file=match.group(2), line=1)
            yield ShadowedModule(module=match.group(1), local=here, library=f"Python's own `{match.group(1)}`")


def _said(crash: Crash) -> str:
    """The exception without the path and the advice that Python adds in brackets."""
    return first_line(f"{crash.type_name}: {crash.message}").partition(" (")[0]


def _leftover(module: str) -> str:
    return f"delete `__pycache__/{module}.*.pyc` beside it if the error stays"
