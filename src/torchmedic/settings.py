"""Options as a value: made by the command line, carried to the watched process in one environment variable."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import Literal

VARIABLE = "TORCHMEDIC_ARMED"
RUN_FILE = "rank0.db"

OnSick = Literal["stop", "skip", "continue"]
Purpose = Literal["watch", "retrace", "wake"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the watched process needs to know.

    `purpose` is "watch" for the user's run; a second, silent run has "retrace" to look at every line of data
    preparation, or "wake" to look at every operation of step `until_step`. `parent` is the process that armed
    it: only its direct child is watched.
    """

    run_folder: str
    parent: int
    on_sick: OnSick = "stop"
    purpose: Purpose = "watch"
    until_step: int | None = None
    break_probe: str = ""

    def to_environment(self) -> str:
        return json.dumps(asdict(self))


def from_environment() -> Settings | None:
    """The settings this process was armed with; None in a process that is not to be watched."""
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    try:
        settings = Settings(**json.loads(text))
    except (ValueError, TypeError):
        return None
    return settings if os.getppid() == settings.parent else None
