"""Options as a value: made by the command line, carried to the watched process in one environment variable."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import Literal, get_args

VARIABLE = "TORCHMEDIC_ARMED"
RUN_FILE = "rank0.db"

OnSick = Literal["stop", "skip", "continue"]
OnStuck = Literal["report", "stop"]
ON_SICK: tuple[OnSick, ...] = get_args(OnSick)
Purpose = Literal[
    "watch",
    "retrace",
    "wake",
    "versions",
    "amplification",
    "averaging",
    "exponentials",
    "locals",
    "casts",
    "narrow",
    "stores",
    "memory",
    "reading",
    "worker",
    "server",
]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the watched process needs to know.

    `purpose` is "watch" for the user's run. A second, silent run has "retrace" to look at every line of data
    preparation, "wake" to look at every operation of step `until_step`, or of what follows the backward numbered
    `until_backward` where that is told, "versions" to see which one changed a saved tensor, or "amplification" to see
    which line of the first step enlarges values, "averaging" to see what its first loss is with means in place of the
    sums that the line `trial` takes, "exponentials" to see those of step `until_step`, "locals" to see what the
    functions of `trial` held, "casts" to see what the line `trial` makes whole numbers of, "narrow" to see what
    those of `trial` add and subtract, "stores" to see what they put into
    arrays; "memory" runs it on a pretended card, "reading" sees which data it reads. A "worker" of a loader says where
    it stands when asked, and a "server" has the processes that it forks for the script note what they die of.
    `parent` is the process that armed it: only its direct child is watched.

    `rank` is that of a process of several, whose own folder lies below `shared_folder`. A `launcher` (torchrun) is not
    watched itself, only what it starts. `stuck_after` is how many seconds a process must stand still to be called
    stuck, `first_step_after` the same before it has made a step.
    """

    run_folder: str
    parent: int
    on_sick: OnSick = "stop"
    purpose: Purpose = "watch"
    until_step: int | None = None
    until_backward: int | None = None
    trial: str = ""
    break_probe: str = ""
    on_stuck: OnStuck = "report"
    stuck_after: float = 15.0
    first_step_after: float = 300.0
    run_file: str = RUN_FILE
    rank: int | None = None
    shared_folder: str = ""
    launcher: bool = False
    dormant: bool = False

    @property
    def common(self) -> str:
        """The folder that all processes of the run share."""
        return self.shared_folder or self.run_folder

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
