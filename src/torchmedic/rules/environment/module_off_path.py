"""A module of the project that lies in a folder Python does not look in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from torchmedic.facts import Crash, FailedImport, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.environment._crashes import import_line, links, missing_module, user_line

_RELATIVE = "attempted relative import with no known parent package"


class ModuleOffPath(Rule):
    """The file is there, but its folder is not on `sys.path`."""

    code = "ENV014"
    name = "module-off-path"
    symptoms = (Symptom.IMPORT_FAILS, Symptom.CRASH)
    tell_apart = "a file or folder of the missing module's name lies in the project"
    needs = (Crash,)
    folds = ("ERR", "missing-module")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for crash in links(run):
            module = missing_module(crash)
            seen = next((f for f in run.all(FailedImport) if f.module == module), None) if module else None
            if seen is not None and seen.project_files:
                yield self._elsewhere(run, module, seen.project_files)
                return
            if _RELATIVE in crash.message:
                yield self._relative(run)
                return

    def _elsewhere(self, run: Run, module: str, files: tuple[str, ...]) -> Diagnosis:
        folder = str(PurePath(files[0]).parent)
        place = "the folder above" if folder == ".." else "the working directory" if folder == "." else f"`{folder}`"
        dotted = ".".join([*PurePath(folder).parts, module]) if _importable(folder) else ""
        cures = [Remedy(title=f"run with that folder on the path: `PYTHONPATH={folder} torchmedic run …`")]
        if dotted:
            cures.insert(0, Remedy(title=f"import it by its place: `{dotted}`"))
        return self.diagnose(
            headline=f"`{module}` is in {place} (`{files[0]}`), which is not on Python's path",
            confidence="likely",
            where=import_line(run, module),
            mark=module,
            label="looked for beside the script and among installed packages",
            culprit=Culprit(phase="setup", module=module, examples=files[:3]),
            remedies=tuple(cures),
        )

    def _relative(self, run: Run) -> Diagnosis:
        where = user_line(run)
        match = re.search(r"from\s+(\.+[\w.]*)\s+import", where.source) if where else None
        what = f"`from {match.group(1)} import`" if match else "a relative import"
        script = PurePath(where.file) if where else PurePath("package/script.py")
        package = script.parent.name or PurePath(run.info.cwd).name or "package"
        called = package if script.stem == "__main__" else f"{package}.{script.stem}"
        return self.diagnose(
            headline=f"{what} in a file started as a script, not as part of a package",
            confidence="proven",
            where=where,
            label="relative to what?",
            culprit=Culprit(phase="setup", module=match.group(1) if match else None),
            remedies=(
                Remedy(title=f"start it from the folder above: `torchmedic run -m {called}`"),
                Remedy(title="or drop the dot, where the module lies beside the script"),
            ),
        )


def _importable(folder: str) -> bool:
    parts = PurePath(folder).parts
    return bool(parts) and all(part.isidentifier() for part in parts)
