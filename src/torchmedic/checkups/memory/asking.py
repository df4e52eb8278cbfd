"""What is asked of the process that runs the script, and where its answer lies."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

REQUEST_FILE = "memory-request.json"
PLAN_FILE = "memory-plan.json"


@dataclass(frozen=True, kw_only=True)
class Request:
    """How the script is to be run: for which card, on which pretended device, with which remedy.

    `loader_batch` replaces the batch size of its data loaders (0 leaves it), of those of size `loader_now` alone where
    that is given; with `plenty`, loaders whose data are too few for some whole batches go over them again. `patience`
    are the seconds that may pass without a step, `looking` those of the processor for batches that differ in size,
    `read_as` is what fractional numbers are taken for that only the card could know.
    """

    card: str = "H200"
    device: str = "cuda"
    expandable: bool = False
    remedy: str = ""
    loader_batch: int = 0
    loader_now: int = 0
    plenty: bool = False
    patience: int = 45
    looking: float = 5.0
    read_as: int = 1

    def write(self, folder: Path) -> None:
        (folder / REQUEST_FILE).write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, folder: Path) -> Request:
        return cls(**json.loads((folder / REQUEST_FILE).read_text()))
