"""A file or folder that is not there, with what lies beside it."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, FileAtCrash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, user_line


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
        near = f", `{file.near[0]}` is" if file.near else ""
        yield self.diagnose(
            headline=f"`{file.path}` is not there{near}",
            confidence="proven",
            where=where,
            culprit=Culprit(phase="setup", field=file.path, examples=file.near),
            evidence=tuple(_evidence(file)),
            remedies=tuple(_remedies(file)),
        )


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
