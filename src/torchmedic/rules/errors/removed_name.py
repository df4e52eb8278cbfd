"""A function or a name that the installed version of a library no longer has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, said, user_line
from torchmedic.rules.errors._removed import instead_of

_ATTRIBUTE = (
    r"^module '(?P<owner>[\w.]+)' has no attribute '(?P<name>\w+)'",
    r"^'(?P<owner>[\w.]+)' object has no attribute '(?P<name>\w+)'",
    r"^type object '(?P<owner>[\w.]+)' has no attribute '(?P<name>\w+)'",
)
_TOLD = (
    r"^`?(?P<owner>[\w.]+)\.(?P<name>\w+)`? was (?:removed|deprecated)[^.]*?(?P<version>NumPy \d[\d.]*\d|)"
    r"[^.]*\.\s*Use (?P<new>`[^`]+`|[\w.]+)"
)
_GONE = r"^This function was deprecated since version [\d.]+ and is now removed"
_ZERO_DIM = r"^invalid index of a 0-dim tensor"


@dataclass(frozen=True)
class _Gone:
    owner: str
    name: str
    instead: str
    since: str = ""


class RemovedName(Rule):
    """Code that was written for an earlier version of a library calls what has been taken out since."""

    code = "ERR272"
    name = "removed-name"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the name was there in earlier versions of the library: the code is older than what is installed"
    needs = (Crash,)
    folds = ("misspelled-attribute",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        gone = _gone(crash) if crash is not None else None
        line = user_line(crash) if crash is not None else None
        if crash is None or gone is None:
            return
        shown = f"{gone.owner}.{gone.name}" if gone.owner else gone.name
        yield self.diagnose(
            headline=f"`{shown}` has been taken out; {gone.instead} stands in for it",
            confidence="proven",
            where=line,
            mark=_mark(line, gone.name),
            label="not in the installed version",
            culprit=Culprit(phase="setup", module=gone.owner or None, op=gone.name),
            evidence=(f"gone since {gone.since}",) if gone.since else (),
            remedies=(
                Remedy(title=f"write {gone.instead.rstrip(',')}")
                if _mark(line, gone.name) or crash.source == "text"
                else Remedy(title="the name is used inside a library: bring that library up to date"),
            ),
        )


def _gone(crash: Crash) -> _Gone | None:
    told = said(crash, _TOLD)
    if told is not None:
        return _Gone(told["owner"], told["name"], f"`{told['new'].strip('`')}`", told["version"])
    attribute = said(crash, *_ATTRIBUTE)
    if attribute is not None and crash.type_name == "AttributeError":
        instead = instead_of(attribute["owner"], attribute["name"])
        return _Gone(attribute["owner"], attribute["name"], instead) if instead else None
    if said(crash, _ZERO_DIM) and _is_old_item(user_line(crash)):
        return _Gone("", "data[0]", "`.item()`", "torch 0.5")
    return _function(crash)


def _function(crash: Crash) -> _Gone | None:
    """torch says that a function is gone, and not which: the line says it."""
    line = user_line(crash)
    if line is None or said(crash, _GONE) is None:
        return None
    for name in re.findall(r"\.(\w+)\(", line.source):
        if instead := instead_of("torch", name):
            return _Gone("torch", name, instead, "")
    return None


def _is_old_item(line: Location | None) -> bool:
    """`loss.data[0]` was how a number was read from a tensor when there were none without a dimension."""
    return line is not None and re.search(r"\.data\s*\[\s*0\s*\]|\bloss\w*\s*\[\s*0\s*\]", line.source) is not None


def _mark(line: Location | None, name: str) -> str:
    return next((m for m in (f".{name}", name) if line is not None and m in line.source), "")
