"""However ranks are started, each is watched and one verdict is given."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from torchmedic.launch.launchers import as_module, is_launcher, place_in
from torchmedic.ranks.folders import is_last, new_rank
from torchmedic.ranks.told import rank_in

SCRIPT = """
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
model = DistributedDataParallel(nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(8):
    loss = model.module(torch.randn(16, 8)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
"""
_TORCHRUN = ["--nproc-per-node", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
_PYTHON = [sys.executable, "-m"]


@pytest.mark.parametrize(
    "command",
    [
        [*_PYTHON, "torchmedic", "run", "--json", "verdict.json", "torchrun", *_TORCHRUN, "train.py"],
        [
            *_PYTHON,
            "torch.distributed.run",
            *_TORCHRUN,
            "-m",
            "torchmedic",
            "run",
            "--json",
            "verdict.json",
            "train.py",
        ],
    ],
    ids=["before", "inside"],
)
def test_torchrun_gets_one_verdict_for_all_ranks(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    assert [d["code"] for d in verdict["diagnoses"]] == ["WIR092"]
    assert verdict["diagnoses"][0]["where"]["line"] == 15
    assert done.stderr.count("error[WIR092]") == 1
    assert len(list(tmp_path.glob(".torchmedic/*/rank?/rank?.db"))) == 2
    (page,) = tmp_path.glob(".torchmedic/*/report.html")
    assert "WIR092" in page.read_text()
    assert all(f"rank {rank}" in page.read_text() for rank in (0, 1)), "the curves of all ranks on one page"


def test_launchers_are_known() -> None:
    assert is_launcher(as_module(["torchrun", "train.py"]))
    assert is_launcher(as_module(["accelerate", "launch", "train.py"]))
    assert not is_launcher(as_module(["train.py"]))


def test_a_place_among_ranks_is_read_from_the_environment() -> None:
    told = {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4", "GROUP_RANK": "0", "MASTER_ADDR": "a"}
    place = place_in(told, "train.py")
    assert place is not None
    assert (place.rank, place.world, place.local_world, place.is_first_machine) == (3, 8, 4, True)
    assert place_in({"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "a"}, "train.py") is None
    assert place_in({}, "train.py") is None
    assert rank_in({"LOCAL_RANK": "2"}) == 2


def test_a_rank_that_is_started_again_gets_a_new_folder(tmp_path: Path) -> None:
    assert [new_rank(tmp_path, 1).name for _ in range(2)] == ["rank1", "rank1-1"]


def test_the_last_rank_speaks(tmp_path: Path) -> None:
    assert [is_last(tmp_path, rank, 3) for rank in (2, 0, 1)] == [False, False, True]


def test_the_files_of_ranks_that_are_started_again_are_kept_apart(tmp_path: Path) -> None:
    script = Path(__file__).parent / "scripts" / "elastic.py"
    command = [*_PYTHON, "torchmedic", "run", "--json", "verdict.json", "torchrun", "--max-restarts", "1"]
    done = subprocess.run(
        [*command, *_TORCHRUN, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    assert (verdict["outcome"], verdict["diagnoses"], verdict["run"]["steps"]) == ("healthy", [], 12), done.stderr
    assert len(list(tmp_path.glob(".torchmedic/*/rank?-1/rank?.db"))) == 2
