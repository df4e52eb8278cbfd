"""What ranks tell each other without waiting: a yes of all of them, and nothing less, is a yes."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
import torch.distributed as dist

from torchmedic.replay.company import Company


def _rank(rank: int, says: bool, meeting: Path, heard: multiprocessing.SimpleQueue[bool]) -> None:
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    company = Company()
    company.announce("room", says)
    dist.barrier()
    heard.put(company.all_announced("room"))
    dist.destroy_process_group()


@pytest.mark.parametrize(("said", "agreed"), [((True, True), True), ((True, False), False)])
def test_all_have_to_say_yes(said: tuple[bool, bool], agreed: bool, tmp_path: Path) -> None:
    forks = multiprocessing.get_context("fork")
    heard = forks.SimpleQueue()
    ranks = [forks.Process(target=_rank, args=(i, yes, tmp_path / "meeting", heard)) for i, yes in enumerate(said)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join(60)
    assert [heard.get(), heard.get()] == [agreed, agreed]
