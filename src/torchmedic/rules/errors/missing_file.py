"""A file or folder that is not there, with what lies beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, FileAtCrash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, user_line
from torchmedic.rules.errors._syntax import Code


class MissingFile(Rule):
    """FileNotFoundError, with the part of the path that exists and the names close by."""

    code = "ERR056"
    name = "missing-file"
    symptoms = (Symptom.CRASH,)
    tell_apart = "FileNotFoundError"
    needs = (Crash, FileAtCrash)
    fallback = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        file = run.last(FileAtCrash)
        if crash is None or file is None or crash.type_name != "FileNotFoundError" or file.exists:
            return
        where = user_line(crash)
        if where is None:
            return
        if file.lies_below:
            yield self._elsewhere(run, file, where)
            return
        near = f", `{file.near[0]}` is" if file.near else ""
        yield self.diagnose(
            headline=f"`{file.path}` is not there{near}",
            confidence="proven",
            where=where,
            culprit=Culprit(phase="setup", field=file.path, examples=file.near),
            evidence=tuple(_evidence(file)),
            remedies=tuple(_remedies(file)),
        )

    def _elsewhere(self, run: Run, file: FileAtCrash, line: Location) -> Diagnosis:
        """The path is right, but from another folder than the one that the process stands in."""
        moved = _moved_at(Code.of(run), file)
        where = moved or line
        below = "the folder of the script" if file.below_script else f"`{file.lies_below}`"
        return self.diagnose(
            headline=f"`{file.path}` is looked up in `{file.cwd}`, and lies below {below}",
            confidence="proven",
            where=where,
            label="the working directory is changed here" if moved is not None else "",
            also=also((line, "a relative path is opened here"), but=where),
            culprit=Culprit(phase="setup", field=file.path, op="os.chdir" if moved is not None else None),
            evidence=(
                "a relative path begins at the working directory, which is not that of the script or of an import",
            ),
            remedies=(
                *((Remedy(title="leave the working directory as it is, and join paths instead"),) if moved else ()),
                Remedy(title='begin paths at the script: `Path(__file__).resolve().parent / "…"`')
                if file.below_script
                else Remedy(title="make the path absolute where it is made: `os.path.abspath(…)`"),
            ),
        )


def _moved_at(code: Code, file: FileAtCrash) -> Location | None:
    """The call that changed the working directory to what it is; with several, the one that names this folder."""
    calls = list(code.calls("chdir"))
    named = [place for place, call in calls if call.args and file.cwd in _words(call.args[0])]
    found = named or [place for place, _ in calls]
    return found[-1] if len(found) == 1 or named else None


def _words(node: ast.expr) -> set[str]:
    texts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return {text.rstrip("/").rpartition("/")[2] for text in texts}


def _evidence(file: FileAtCrash) -> Iterator[str]:
    beside = ", ".join(file.beside) or "nothing"
    yield f"the path exists up to `{file.existing}`, which holds {beside}"
    if not file.path.startswith("/"):
        yield "the path is relative: it is looked up from the working directory, not from the script's folder"


def _remedies(file: FileAtCrash) -> Iterator[Remedy]:
    if file.near:
        yield Remedy(title=f"write `{file.near[0]}`")
    else:
        yield Remedy(title="start the script from the folder that the path begins in, or build it from `__file__`")
        yield Remedy(title="make the folder before writing: `os.makedirs(folder, exist_ok=True)`")
