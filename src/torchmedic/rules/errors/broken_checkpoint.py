"""A checkpoint file that is empty, cut off, or no checkpoint at all."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, FileAtCrash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._batches import as_gigabytes
from torchmedic.rules.errors._reading import crash_in, said, user_line

_WORDS = (
    "PytorchStreamReader failed",
    "failed finding central directory",
    "invalid load key",
    "Ran out of input",
    "unexpected EOF",
    "file in archive is not in a subdirectory",
    "pickle data was truncated",
    "Invalid magic number",
    "corrupted",
    "incomplete metadata",
    "HeaderTooLarge",
    "deserializing header",
    r"Unsupported operand \d+",
)


class BrokenCheckpoint(Rule):
    """`torch.load` could not make sense of the bytes."""

    code = "ERR055"
    name = "broken-checkpoint"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`PytorchStreamReader failed`, `invalid load key`, `Ran out of input`, `unexpected EOF`"
    needs = (Crash, FileAtCrash)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        file = run.last(FileAtCrash)
        if crash is None or file is None or not file.exists or not said(crash, *_WORDS):
            return
        if said(crash, "was not an allowed global", "Unsupported global"):
            return
        what = _what(file)
        yield self.diagnose(
            headline=f"`{file.path}` is {what}",
            confidence="proven" if _is_sure(file) else "likely",
            where=user_line(crash),
            label="reads it",
            culprit=Culprit(phase="setup", field=file.path),
            evidence=tuple(_evidence(file, crash)),
            remedies=tuple(_remedies(file)),
        )


def _is_sure(file: FileAtCrash) -> bool:
    return file.size == 0 or _is_page(file) or _is_pointer(file) or file.beginning.startswith("PK")


def _is_page(file: FileAtCrash) -> bool:
    return file.beginning.lstrip().lower().startswith(("<!doctype", "<html", "<?xml"))


def _is_pointer(file: FileAtCrash) -> bool:
    return file.beginning.startswith("version https://git-lfs")


def _what(file: FileAtCrash) -> str:
    if file.size == 0:
        return "an empty file"
    if _is_page(file):
        return "a web page, not a checkpoint"
    if _is_pointer(file):
        return "a Git LFS pointer, not the weights"
    if file.beginning.startswith("PK"):
        return "a checkpoint that is cut off: its end is missing"
    return "no file that `torch.load` can read"


def _evidence(file: FileAtCrash, crash: Crash) -> Iterator[str]:
    size = f"{file.size} bytes" if (file.size or 0) < 2**20 else as_gigabytes(file.size or 0)
    printable = "".join(c if c.isprintable() else "." for c in file.beginning)
    yield f"the file has {size}" + (f" and begins with `{printable}`" if printable and file.size else "")
    if file.beginning.startswith("PK"):
        yield "a checkpoint is a zip archive whose table of contents is written last; saving or copying was cut short"


def _remedies(file: FileAtCrash) -> Iterator[Remedy]:
    if _is_pointer(file):
        yield Remedy(title="fetch the weights: `git lfs pull`")
    elif _is_page(file):
        yield Remedy(title="download the file again from a direct link, logged in where that is needed")
    else:
        yield Remedy(title="load an earlier checkpoint, or save or copy this one again")
        yield Remedy(
            title="save under another name and rename when done (`os.replace`): an interrupt then leaves the old file"
        )
