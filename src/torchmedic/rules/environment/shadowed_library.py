"""A file of the user's with the name of a library."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import PurePath

from torchmedic.facts import Crash, Location, Run, ShadowedModule
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.environment._crashes import first_line, import_line, links

_FROM_FILE = re.compile(r"from (?:partially initialized module )?'(?P<module>\w+)' \((?P<file>[^()]+?\.py)\)")
# So do the messages of Python 3.13 end where the file lies beside the script.
_RENAMED = re.compile(r"renaming '(?P<file>[^']+\.py)' since it has the same name as the standard library module named")


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
        match = _FROM_FILE.search(crash.message) or _RENAMED.search(crash.message)
        module = (match.groupdict().get("module") or _module_named(match["file"])) if match is not None else ""
        if match is None or module not in sys.stdlib_module_names:
            continue
        if not re.search(r"(?i)[\\/]lib(?:64)?[\\/]|(?:site|dist)-packages", match["file"]):
            here = Location(file=match["file"], line=1)
            yield ShadowedModule(module=module, local=here, library=f"Python's own `{module}`")


def _module_named(file: str) -> str:
    path = PurePath(file.replace("\\", "/"))
    return path.parent.name if path.stem == "__init__" else path.stem


def _said(crash: Crash) -> str:
    """The exception without the path and the advice that Python adds in brackets."""
    return first_line(f"{crash.type_name}: {crash.message}").partition(" (")[0]


def _leftover(module: str) -> str:
    return f"delete `__pycache__/{module}.*.pyc` beside it if the error stays"
