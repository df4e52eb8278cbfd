"""What the exam of the first steps costs over a whole run, in times of a bare step: the budget is three.

    python bench/exam_cost.py [--models mlp,cnn,gpt] [--steps 200] [--rounds 5]

Runs of some steps, interleaved: bare, watched without the exam, watched with it. Of each step the shortest time over
the rounds counts (processor time of this process), so that what else the machine does is left out; the exam is the sum
of the differences between the last two ways over the first 64 steps, and the median difference for each later one.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
import torch.nn.functional as F
from torch import nn

from bench.overhead import Workload, medic, mlp
from torchmedic.record import Probe, Recorder
from torchmedic.watching import install_probes

_HEAD = 64


def cnn() -> Workload:
    net = nn.Sequential(
        *(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1)),
        *(nn.Flatten(), nn.Linear(32, 10)),
    )
    x, y = torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))
    return Workload("small cnn", net, lambda: F.cross_entropy(net(x), y), 0)


def gpt() -> Workload:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(n_layer=2, n_head=2, n_embd=64, vocab_size=256, n_positions=64, use_cache=False)
    net = GPT2LMHeadModel(config)
    ids = torch.randint(0, 256, (8, 64))
    return Workload("small gpt", net, lambda: net(input_ids=ids, labels=ids).loss, 0)


class _WithoutExam:
    """A recorder that takes no probe of the exam."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def add(self, probe: Probe) -> None:
        if not is_exam(probe):
            self._recorder.add(probe)


def is_exam(probe: Probe) -> bool:
    return probe.name.endswith("-exam") or probe.name == "lineage"


def _install_without_exam(recorder: Recorder) -> None:
    install_probes(_WithoutExam(recorder))  # type: ignore[arg-type]


WAYS: dict[str, Callable[[], Any]] = {
    "bare": contextlib.nullcontext,
    "without": lambda: medic(_install_without_exam),
    "with": medic,
}


def times_of_steps(work: Workload, way: str, steps: int) -> list[float]:
    """Seconds of each step of a run from its beginning."""
    state = copy.deepcopy(work.model.state_dict())
    times: list[float] = []
    with WAYS[way]():
        optimizer = torch.optim.AdamW(work.model.parameters(), lr=work.learning_rate)
        for _ in range(steps):
            began = time.process_time()
            optimizer.zero_grad()
            loss = work.loss()
            loss.backward()
            optimizer.step()
            times.append(time.process_time() - began)
    work.model.load_state_dict(state)
    return times


def measure(work: Workload, steps: int, rounds: int) -> dict[str, float]:
    """The bare step in milliseconds, and what the exam costs in bare steps over the whole run."""
    shortest = {way: [float("inf")] * steps for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            now = times_of_steps(work, way, steps)
            shortest[way] = [min(pair) for pair in zip(shortest[way], now, strict=True)]
    bare = statistics.median(shortest["bare"])
    extra = [a - b for a, b in zip(shortest["with"], shortest["without"], strict=True)]
    later = extra[_HEAD:]
    total = sum(extra[:_HEAD]) + (statistics.median(later) * len(later) if later else 0.0)
    dearest = sorted(range(steps), key=lambda step: -extra[step])[:3]
    return {
        "bare ms": bare * 1e3,
        "exam": total / bare,
        **{f"step {step + 1}": extra[step] / bare for step in dearest},
    }


def main() -> None:
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="mlp,cnn,gpt")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.models.split(","):
        work = {"mlp": mlp, "cnn": cnn, "gpt": gpt}[name]()
        found = measure(work, options.steps, options.rounds)
        shown = ", ".join(f"{key} {value:.2f}" for key, value in found.items())
        print(f"{work.name}: {shown}", flush=True)


if __name__ == "__main__":
    main()
