"""What watching several ranks costs: a DDP loop on 2 gloo ranks, merging many rank files, agreeing on a sick step.

    python bench/ranks.py [--rounds 7] [--files 1000] [--json OUT]

The overhead is the median over rounds of watched to bare, in the same two processes, one after the other in turn. On a
machine that is busy with other things the clock says little; processor time still does.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from torchmedic.facts import RankSeen, RankStep, RunInfo
from torchmedic.probes.ranks.joined import Ranks
from torchmedic.ranks.merging import load_whole
from torchmedic.record import Recorder
from torchmedic.replay.company import Company
from torchmedic.settings import RUN_FILE, Settings
from torchmedic.store import Writer, append, create
from torchmedic.triage import examine
from torchmedic.watching import install_probes, watch_threads

WORLD = 2
STEPS = 220
WARM_UP = 130  # the exams of the first steps are measured by bench/exam_cost.py


def build() -> tuple[Any, torch.optim.Optimizer]:
    torch.manual_seed(0)
    layers = [layer for _ in range(4) for layer in (nn.Linear(512, 512), nn.ReLU())]
    model = DistributedDataParallel(nn.Sequential(*layers, nn.Linear(512, 10)))
    return model, torch.optim.AdamW(model.parameters(), lr=1e-4)


def train(
    model: Any, optimizer: torch.optim.Optimizer, x: torch.Tensor, y: torch.Tensor, steps: int
) -> tuple[float, float]:
    """Seconds for some steps, all ranks having begun together: by the clock, and of processor time."""
    dist.barrier()
    began, used = time.perf_counter(), time.process_time()
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return time.perf_counter() - began, time.process_time() - used


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """All that `torchmedic run` puts into a rank, threads included."""
    with tempfile.TemporaryDirectory() as folder:
        create(Path(folder) / RUN_FILE, RunInfo())
        recorder = Recorder(Settings(run_folder=folder, parent=os.getppid()), Writer(Path(folder) / RUN_FILE))
        install_probes(recorder)
        watch_threads(recorder)
        next(probe for probe in recorder._probes if isinstance(probe, Ranks))._joined()
        try:
            yield
        finally:
            recorder.finish()


def measure(rank: int, folder: str, rounds: int) -> None:
    """In each rank: bare and watched in turn, each with a model of its own and the same warm-up."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=WORLD)
    x, y = torch.randn(256, 512), torch.randint(0, 10, (256,))
    ratios, used, steps, fastest = [], [], [], {"bare": math.inf, "watched": math.inf}
    for turn in range(rounds):
        seconds = {}
        for way in ("bare", "watched") if turn % 2 == 0 else ("watched", "bare"):
            with watched() if way == "watched" else contextlib.nullcontext():
                model, optimizer = build()
                train(model, optimizer, x, y, WARM_UP)
                seconds[way] = train(model, optimizer, x, y, STEPS)
            fastest[way] = min(fastest[way], seconds[way][0])
        ratios.append(seconds["watched"][0] / seconds["bare"][0])
        used.append(seconds["watched"][1] / seconds["bare"][1])
        steps.append(seconds["bare"][0] / STEPS)
    votes = _time_votes()
    reduces = _time_all_reduce()
    if rank == 0:
        result = {
            "overhead by the clock": statistics.median(ratios),
            "overhead in processor time": statistics.median(used),
            "overhead of the fastest rounds": fastest["watched"] / fastest["bare"],
            "rounds by the clock": [round(ratio, 3) for ratio in ratios],
            "rounds in processor time": [round(ratio, 3) for ratio in used],
            "bare step ms": 1000 * statistics.median(steps),
            "meeting of a sick step ms": 1000 * votes,
            "tiny all-reduce a healthy step is spared ms": 1000 * reduces,
        }
        (Path(folder) / "result.json").write_text(json.dumps(result))
    dist.barrier()
    dist.destroy_process_group()


def _time_votes(count: int = 50) -> float:
    company = Company()
    dist.barrier()
    began = time.perf_counter()
    for _ in range(count):
        company.any(False)
    return (time.perf_counter() - began) / count


def _time_all_reduce(count: int = 200) -> float:
    flag = torch.zeros(1)
    dist.barrier()
    began = time.perf_counter()
    for _ in range(count):
        dist.all_reduce(flag)
    return (time.perf_counter() - began) / count


def merging(files: int) -> dict[str, float]:
    """Write as many rank files as a large run leaves, then read, merge and judge them."""
    with tempfile.TemporaryDirectory() as folder:
        for rank in range(files):
            path = Path(folder) / f"rank{rank}" / f"rank{rank}.db"
            create(path, RunInfo(rank=rank, world=files, steps=1000, host=f"node{rank // 8}"))
            norms = {f"layer{i}.weight": 1.0 + i for i in range(32)}
            steps = [RankStep(step=step, norms=norms, batch=str(rank), wrapped=1) for step in (1, 2, 3, 4, 5, 6, 8, 16)]
            append(path, [RankSeen(rank=rank, world=files), *steps])
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.db"))
        began = time.perf_counter()
        run = load_whole(Path(folder))
        loaded = time.perf_counter() - began
        examine(run)
        return {
            "files": files,
            "bytes per rank": size / files,
            "merge seconds": loaded,
            "judge seconds": time.perf_counter() - began - loaded,
        }


def show(result: dict[str, Any]) -> None:
    for name, value in result.items():
        print(f"{name:45} {value if not isinstance(value, float) else round(value, 4)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(measure, args=(folder, args.rounds), nprocs=WORLD, start_method="fork")
        result = json.loads((Path(folder) / "result.json").read_text())
    show(result)
    merged = merging(args.files)
    show(merged)
    result |= merged
    if args.json is not None:
        args.json.write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
