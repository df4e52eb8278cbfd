"""What running a sick step again costs: seconds per replay against the bare step, on the models of `overhead.py`.

    python bench/replay_cost.py [--models mlp,gpt2,gat]

The sickness is a logarithm of 0 added to the loss at the twentieth step; the budget is 10 bare steps plus one second.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
import warnings
from pathlib import Path

import torch
from overhead import DEVICE, Workload, gat, gpt2, medic, mlp, resnet50

from torchmedic.facts import SickStep, Trial
from torchmedic.replay.doctor import SickRun
from torchmedic.store import load

SICK_STEP = 20
MODELS = {"mlp": mlp, "gpt2": gpt2, "gat": gat, "resnet50": resnet50}


def train(work: Workload, optimizer: torch.optim.Optimizer, zero: torch.Tensor, sick_step: int) -> list[float]:
    """Seconds of each step; the loss of one of them has a bad derivative."""
    seconds = []
    for step in range(1, sick_step + 1):
        began = time.perf_counter()
        optimizer.zero_grad()
        loss = work.loss()
        if step == SICK_STEP:
            loss = loss + zero.log() * 0
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - began)
    return seconds


def measure(work: Workload) -> tuple[float, float, int]:
    """Seconds of a bare step, of one replay, and how many replays there were."""
    zero = torch.zeros((), device=DEVICE)
    optimizer = torch.optim.AdamW(work.model.parameters(), lr=work.learning_rate)
    bare = statistics.median(train(work, optimizer, zero, SICK_STEP - 1)[5:])
    with medic() as folder:
        optimizer = torch.optim.AdamW(work.model.parameters(), lr=work.learning_rate)
        with contextlib.suppress(SickRun):
            train(work, optimizer, zero, SICK_STEP)
        run = load(Path(folder))
    sick = run.first(SickStep)
    if sick is None or not sick.reproduced:
        raise SystemExit("the step was not run again")
    replays = 1 + len(list(run.all(Trial)))
    return bare, sick.seconds / replays, replays


def main() -> None:
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="mlp,gpt2,gat")
    print(f"torch {torch.__version__} on {DEVICE}")
    print(f"{'model':14s} {'bare step ms':>13s} {'one replay ms':>14s} {'budget ms':>10s} {'replays':>8s}")
    for name in parser.parse_args().models.split(","):
        work = MODELS[name]()
        bare, replay, count = measure(work)
        print(
            f"{work.name:14s} {bare * 1e3:13.2f} {replay * 1e3:14.2f} {bare * 1e4 + 1e3:10.0f} {count:8d}", flush=True
        )


if __name__ == "__main__":
    main()
