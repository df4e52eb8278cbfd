"""The second run: when the first one could not see what a sick or failing step had done."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from torchmedic.facts import Birth, Crash, FileRead, InplaceChange, NormalisedBy, Origin, Run, SickStep, Trial
from torchmedic.launch.parent import run_script
from torchmedic.settings import RUN_FILE, Purpose, Settings
from torchmedic.store import RunFileError, append, load

_LONGEST_FIRST_RUN = 600.0
SEEN_AGAIN = (Birth, FileRead, InplaceChange, NormalisedBy, Origin, SickStep, Trial)


def entered_with_data(run: Run) -> Origin | SickStep | None:
    """What a line of preparation may be behind: values of a batch or a variable, or a learning rate."""
    origin = run.last(Origin)
    sick = run.first(SickStep)
    if sick is not None and sick.what == "learning-rate":
        return sick
    if origin is None or origin.source is None or origin.source.origin not in ("batch", "variable"):
        return None
    return origin


def never_reproduced(run: Run) -> SickStep | None:
    """A sick step that the first run could not run again."""
    sick = run.first(SickStep)
    if sick is None or run.first(Origin) is not None or sick.what in ("update", "learning-rate"):
        return None
    return sick


def changed_in_place(run: Run) -> Crash | None:
    """A `backward` that found a saved tensor changed, in a run that may be waited for once more."""
    crash = run.first(Crash)
    found = crash is not None and "modified by an inplace operation" in crash.message
    return crash if found and run.info.seconds <= _LONGEST_FIRST_RUN else None


# Each is asked in turn what it would look at again, since an answer may need the one before it.
SECOND_RUNS: tuple[tuple[Purpose, Callable[[Run], Crash | Origin | SickStep | None]], ...] = (
    ("wake", never_reproduced),
    ("retrace", entered_with_data),
    ("versions", changed_in_place),
)


def look_again_if_needed(command: Sequence[str], folder: Path, settings: Settings) -> None:
    """Run the script again, silently, where only that can tell the cause; add what was seen to the run."""
    try:
        for purpose, asks in SECOND_RUNS:
            asked = asks(load(folder))
            if asked is not None:
                _run_again(command, folder, settings, purpose, asked.step)
    except RunFileError:
        return


def _run_again(
    command: Sequence[str], folder: Path, settings: Settings, purpose: Purpose, until_step: int | None
) -> None:
    second = folder / purpose
    second.mkdir()
    again = replace(settings, run_folder=str(second), parent=os.getpid(), purpose=purpose, until_step=until_step)
    run_script(command, second, again, silent=True)
    seen = load(second)
    append(folder / RUN_FILE, [o for o in seen.observations if isinstance(o, SEEN_AGAIN)])
    shutil.rmtree(second, ignore_errors=True)
