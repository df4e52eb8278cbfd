"""What watching costs: torchmedic, bare, anomaly mode, a per-op checker and module hooks, interleaved in one process.

    python bench/overhead.py [--models mlp,gpt2,gat,resnet50] [--rounds 7] [--json OUT]

Ratios are medians over rounds to the bare loop of the same round; absolute times hold for the machine at hand only.
On the host the processor's time is compared, all threads together: other users of the machine disturb it least.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from torchmedic.facts import RunInfo
from torchmedic.probes.events.autograd import Autograd
from torchmedic.probes.events.batches import Batches
from torchmedic.probes.events.loaders import Loaders
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.record import Recorder
from torchmedic.replay.doctor import Doctor
from torchmedic.settings import RUN_FILE, Settings
from torchmedic.store import Writer, create
from torchmedic.watching import install_probes

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@dataclass
class Workload:
    """A model with its loss on a fixed batch, and how many steps make one timing."""

    name: str
    model: nn.Module
    loss: Callable[[], torch.Tensor]
    steps: int
    repeats: int = 1  # of a round: short steps scatter more, and cost less to repeat


def mlp() -> Workload:
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)).to(DEVICE)
    x, y = torch.randn(256, 64, device=DEVICE), torch.randint(0, 10, (256,), device=DEVICE)
    return Workload("mlp 26k", net, lambda: F.cross_entropy(net(x), y), 300, repeats=4)


def gpt2() -> Workload:
    from transformers import GPT2Config, GPT2LMHeadModel

    if DEVICE == "cuda":
        config, size, steps = GPT2Config(use_cache=False), (16, 1024), 12
    else:
        config, size, steps = GPT2Config(n_layer=4, n_head=4, n_embd=256, vocab_size=8192, use_cache=False), (4, 128), 8
    net = GPT2LMHeadModel(config).to(DEVICE)
    ids = torch.randint(0, config.vocab_size, size, device=DEVICE)

    def loss() -> torch.Tensor:
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
            return net(input_ids=ids, labels=ids).loss

    return Workload("gpt2 124M" if DEVICE == "cuda" else "gpt2 5M", net, loss, steps)


def gat() -> Workload:
    from torch_geometric.nn import GATConv

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = GATConv(64, 32, heads=4), GATConv(128, 7)

        def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
            return self.second(F.elu(self.first(x, edges)), edges)

    nodes, count = (20_000, 400_000) if DEVICE == "cuda" else (3_000, 30_000)
    net = Net().to(DEVICE)
    x, y = torch.randn(nodes, 64, device=DEVICE), torch.randint(0, 7, (nodes,), device=DEVICE)
    edges = torch.randint(0, nodes, (2, count), device=DEVICE)
    return Workload("gat", net, lambda: F.cross_entropy(net(x, edges), y), 60 if DEVICE == "cuda" else 10)


def resnet50() -> Workload:
    import torchvision

    net = torchvision.models.resnet50().to(DEVICE).to(memory_format=torch.channels_last)
    size = 128 if DEVICE == "cuda" else 4
    x = torch.randn(size, 3, 224, 224, device=DEVICE).to(memory_format=torch.channels_last)
    y = torch.randint(0, 1000, (size,), device=DEVICE)

    def loss() -> torch.Tensor:
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
            return F.cross_entropy(net(x), y)

    return Workload("resnet50", net, loss, 20 if DEVICE == "cuda" else 3)


class PerOpCheck(TorchDispatchMode):
    """What a simple checker does: every result of every operation is read."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, (tuple, list)) else (out,):
            if isinstance(tensor, torch.Tensor) and tensor.is_floating_point() and tensor.numel():
                torch.isfinite(tensor).all().item()
        return out


def install_guard(recorder: Recorder) -> None:
    """The always-on guard alone, without the exams of the first steps and the pulse."""
    modules, optimizers, loaders = Modules(), Optimizers(), Loaders()
    for probe in (modules, optimizers, Autograd(), Batches(), loaders, Doctor(modules, optimizers, loaders)):
        recorder.add(probe)


@contextlib.contextmanager
def medic(install: Callable[[Recorder], None] = install_probes) -> Iterator[str]:
    """Watch what runs inside, in a run folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        create(Path(folder) / RUN_FILE, RunInfo())
        recorder = Recorder(Settings(run_folder=folder, parent=os.getppid()), Writer(Path(folder) / RUN_FILE))
        install(recorder)
        try:
            yield folder
        finally:
            recorder.finish()


@contextlib.contextmanager
def module_hooks() -> Iterator[None]:
    before = nn.modules.module.register_module_forward_pre_hook(lambda module, args: None)
    after = nn.modules.module.register_module_forward_hook(lambda module, args, out: None)
    yield
    before.remove()
    after.remove()


WAYS: dict[str, Callable[[], Any]] = {
    "bare": contextlib.nullcontext,
    "torchmedic": medic,
    "guard alone": lambda: medic(install_guard),
    "module hooks": module_hooks,
    "detect_anomaly": torch.autograd.detect_anomaly,
    "per-op check": PerOpCheck,
}


def train(work: Workload, optimizer: torch.optim.Optimizer, steps: int) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        loss = work.loss()
        loss.backward()
        optimizer.step()


def seconds_per_step(work: Workload, way: str, fused: bool, warm: int) -> float:
    """Time of one step under one way of watching, after `warm` steps in which it may settle."""
    with WAYS[way]():
        optimizer = torch.optim.AdamW(work.model.parameters(), lr=1e-4, fused=fused, foreach=not fused)
        train(work, optimizer, warm)
        _wait()
        start = _clock()
        train(work, optimizer, work.steps)
        _wait()
        return (_clock() - start) / work.steps


_clock = time.perf_counter if DEVICE == "cuda" else time.process_time


def _wait() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def measure(work: Workload, fused: bool, rounds: int, ways: list[str], warm: int) -> dict[str, float]:
    """Median ratio to bare for each way, and the bare time in milliseconds."""
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds * work.repeats):
        for way in ways:
            times[way].append(seconds_per_step(work, way, fused, warm))
    bare = statistics.median(times["bare"])
    ratios = {
        way: statistics.median(t / b for t, b in zip(values, times["bare"], strict=True))
        for way, values in times.items()
    }
    return {"bare ms": bare * 1e3, **ratios}


def main() -> None:
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="mlp,gpt2,gat,resnet50" if DEVICE == "cuda" else "mlp,gpt2,gat")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--warm", type=int, default=48, help="steps before timing: exams of the first steps end")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    ways = options.ways.split(",")
    rows = []
    print(f"torch {torch.__version__} on {torch.cuda.get_device_name() if DEVICE == 'cuda' else 'cpu'}, ratio to bare")
    print(f"{'model':14s} {'optimizer':8s} {'bare ms':>9s} " + " ".join(f"{way:>14s}" for way in ways[1:]))
    for name in options.models.split(","):
        work = globals()[name]()
        for fused in (True, False):
            found = measure(work, fused, options.rounds, ways, options.warm)
            kind = "fused" if fused else "foreach"
            print(
                f"{work.name:14s} {kind:8s} {found['bare ms']:9.3f} " + " ".join(f"{found[w]:14.3f}" for w in ways[1:]),
                flush=True,
            )
            rows.append({"model": work.name, "optimizer": kind, **found})
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
