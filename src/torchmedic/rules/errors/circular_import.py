"""Files of the user's that import each other, so that one is asked for a name before it has made it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from torchmedic.facts import Crash, Location, Run, ShadowedModule
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said

_PATTERNS = (
    r"cannot import name '(?P<name>\w+)' from partially initialized module '(?P<module>[\w.]+)'",
    # Python 3.13 names the file, and gives another advice where it lies beside the script.
    r"partially initialized module '(?P<module>[\w.]+)'(?: from '[^']+')? has no attribute '(?P<name>\w+)'",
    r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)' \(consider renaming '[^']+' if it has the same name",
)


class CircularImport(Rule):
    """A module is imported while it is itself still waiting for an import."""

    code = "ERR104"
    name = "circular-import"
    symptoms = (Symptom.IMPORT_FAILS, Symptom.CRASH)
    tell_apart = "`partially initialized module`, and the module is a file of your own"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, *_PATTERNS)
        if crash is None or found is None or run.first(ShadowedModule) is not None:
            return
        ring = _ring(crash, found["module"])
        if len(ring) < 2:
            return
        module, name, asked, waits = found["module"], found["name"], ring[-1], ring[0]
        yield self.diagnose(
            headline=f"`{_short(asked)}` needs `{name}` of `{module}`, which waits for an import itself",
            confidence="proven",
            where=asked,
            label=f"`{module}` has not got as far as `{name}`",
            also=also((waits, f"`{module}` begins the circle here"), but=asked),
            culprit=Culprit(phase="setup", module=module),
            evidence=("the files import each other: " + " → ".join(map(_short, [*ring, waits])),),
            remedies=(
                Remedy(title=f"move `{name}` into a file that both import and that imports neither"),
                Remedy(title="or write the import inside the function that needs it, so that it runs later"),
            ),
        )


def _ring(crash: Crash, module: str) -> list[Location]:
    """From the file of the module to the line that asked for it, the last line of each file on the way."""
    own = [frame.location for frame in crash.frames if frame.is_user]
    starts = [i for i, place in enumerate(own) if _is_file_of(place.file, module)]
    return own[starts[-1] :] if starts else []


def _is_file_of(file: str, module: str) -> bool:
    """
    >>> _is_file_of("/a/data/sets.py", "data.sets"), _is_file_of("a/data/__init__.py", "data"), _is_file_of("a.py", "b")
    (True, True, False)
    """
    parts = PurePath(file.replace("\\", "/")).with_suffix("").parts
    parts = parts[:-1] if parts[-1:] == ("__init__",) else parts
    wanted = tuple(module.split("."))
    shared = min(len(parts), len(wanted))
    return shared > 0 and parts[-shared:] == wanted[-shared:]


def _short(place: Location) -> str:
    return PurePath(place.file.replace("\\", "/")).name
