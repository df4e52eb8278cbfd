"""Native code crashed: a segmentation fault, an abort, a bus error."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from torchmedic.facts import ChildDeath, Location, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>\S+)')
_OWN = str(Path(__file__).parents[2]) + os.sep
_LIBRARY = re.compile(r"site-packages|dist-packages|/lib/python3|<frozen|^<")
_MEANING = {
    "SIGSEGV": "native code read or wrote memory that is not its own",
    "SIGABRT": "native code called `abort`, after a failed check or an exception nobody caught",
    "SIGBUS": "memory that was promised could not be had: /dev/shm is full, or a mapped file was cut",
    "SIGFPE": "an integer was divided by zero in native code",
    "SIGILL": "the processor does not know an instruction: a wheel was built for a newer one",
}


class NativeCrash(Rule):
    """The fault handler's stack tells the last Python line."""

    code = "ERR061"
    name = "native-crash"
    symptoms = (Symptom.DEATH,)
    tell_apart = "`Segmentation fault`, `Aborted`, `Bus error`; the status is 139, 134 or 135"
    needs = (ChildDeath,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        death = run.last(ChildDeath)
        if death is None or death.name not in _MEANING:
            return
        stack = list(_stack(death, run.info.cwd))
        where = next((place for place in stack if not _LIBRARY.search(place.file)), None)
        inner = stack[0] if stack else None
        also = (Also(location=inner, why="the innermost Python frame"),) if inner and where and inner != where else ()
        yield self.diagnose(
            headline=f"native code ended the process ({death.name})" + (f" in `{inner.function}`" if inner else ""),
            confidence="proven" if where is not None else "likely",
            where=where,
            label="the last line of the script that ran",
            also=also,
            culprit=Culprit(op=inner.function if inner else None),
            evidence=(_MEANING[death.name],),
            remedies=tuple(_remedies(death.name)),
        )


def _stack(death: ChildDeath, cwd: str) -> Iterator[Location]:
    """The frames of the thread that crashed, innermost first."""
    started = False
    crashed = next((i for i, line in enumerate(death.native_stack) if line.startswith("Current thread")), -1)
    for line in death.native_stack[crashed + 1 :]:
        found = _FRAME.search(line)
        if found is None:
            if started:
                return
            continue
        started = True
        if found["file"].startswith(_OWN):
            continue
        file = found["file"].removeprefix(cwd.rstrip("/") + "/") if cwd else found["file"]
        yield Location(file=file, line=int(found["line"]), function=found["function"])


def _remedies(name: str) -> Iterator[Remedy]:
    if name == "SIGBUS":
        yield Remedy(title="give more shared memory (`--shm-size`), or use `num_workers=0`")
        return
    if name == "SIGILL":
        yield Remedy(title="install builds made for this processor")
        return
    yield Remedy(title="look at the arguments of that line: sizes, indices, freed or read-only memory")
    yield Remedy(title="check that compiled packages match this torch: `torchmedic env`")
