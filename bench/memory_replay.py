"""Replays traces of a true allocator (`memory_measure.py --traces`) on our model of it: do both reserve the same?

python bench/memory_replay.py FOLDER
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

from torchmedic.checkups.memory.allocator import MIB, Block, CachingAllocator


def main() -> None:
    """One row for each trace: peaks of the card, and of the model fed with the same requests."""
    if len(sys.argv) < 2:
        print("no traces: a card has to record them first")
        return
    print(f"{'trace':24}{'events':>9}{'allocated':>11}{'model':>9}{'reserved':>10}{'model':>9}")
    for path in sorted(Path(sys.argv[1]).glob("*.txt.gz")):
        events = list(_events(path))
        true, model = _true_peaks(events), _replayed(events)
        figures = (true[0], model.peak_allocated, true[1], model.peak_reserved)
        shown = "".join(f"{figure / MIB:{width}.1f}" for figure, width in zip(figures, (11, 9, 10, 9), strict=True))
        print(f"{path.name.removesuffix('.txt.gz'):24}{len(events):9}{shown}")


def _events(path: Path) -> Iterator[tuple[str, int, int]]:
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        action, size, address, *_ = line.split()
        yield action, int(size), int(address)


def _true_peaks(events: list[tuple[str, int, int]]) -> tuple[int, int]:
    """Sizes of `alloc` are those of the blocks that were handed out."""
    held = reserved = most_held = most_reserved = 0
    for action, size, _ in events:
        held += size if action == "alloc" else -size if action == "free_completed" else 0
        reserved += size if action == "segment_alloc" else -size if action == "segment_free" else 0
        most_held, most_reserved = max(most_held, held), max(most_reserved, reserved)
    return most_held, most_reserved


def _replayed(events: list[tuple[str, int, int]]) -> CachingAllocator:
    allocator = CachingAllocator()
    blocks: dict[int, Block] = {}
    for action, size, address in events:
        if action == "alloc":
            blocks[address] = allocator.allocate(size)
        elif action == "free_completed" and address in blocks:
            allocator.release(blocks.pop(address))
    return allocator


if __name__ == "__main__":
    main()
