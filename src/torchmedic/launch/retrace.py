"""The second run: when bad numbers came in with the data, the script runs again, silently, line by line."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from torchmedic.facts import Birth, Origin, Run
from torchmedic.launch.parent import run_script
from torchmedic.settings import RUN_FILE, Settings
from torchmedic.store import RunFileError, append, load

_FOLDER = "retrace"


def entered_with_data(run: Run) -> Origin | None:
    """The origin of a sick step whose bad values were in a batch or a variable before the step began."""
    origin = run.last(Origin)
    if origin is None or origin.source is None or origin.source.origin not in ("batch", "variable"):
        return None
    return origin


def retrace_if_needed(command: Sequence[str], folder: Path, settings: Settings) -> None:
    """Find the line of preparation that made the bad values, and add what was seen to the run."""
    try:
        origin = entered_with_data(load(folder))
    except RunFileError:
        return
    if origin is None:
        return
    second = folder / _FOLDER
    second.mkdir()
    again = replace(settings, run_folder=str(second), parent=os.getpid(), purpose="retrace", until_step=origin.step)
    run_script(command, second, again, silent=True)
    append(folder / RUN_FILE, list(load(second).all(Birth)))
    shutil.rmtree(second, ignore_errors=True)
