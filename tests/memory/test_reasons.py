"""Why a remedy gains nothing is what its own run has shown, and a run that came to nothing is no reason."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from tests.memory.running import plan_of_text
from torchmedic.checkups.memory.asking import Request
from torchmedic.cli._memory_cures import _tried
from torchmedic.facts import Location, MemoryPlan
from torchmedic.facts.memory_plan import LostTrack, Remedied

_SCRIPT = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.last = nn.Embedding(1000, 256), nn.Linear(256, 1)
    def forward(self, x):
        return self.last((self.table(x) * 2).cos().mean(1))
net = Net()
optimizer = torch.optim.OPTIMIZER(net.parameters(), lr=0.1)
for _ in range(3):
    net(torch.randint(0, 1000, (256, 100))).mean().backward()
    optimizer.step()
    ZERO
"""


def _note(remedy: str, folder: Path, optimizer: str = "Adam", zero: str = "optimizer.zero_grad()") -> str:
    text = textwrap.dedent(_SCRIPT).replace("OPTIMIZER", optimizer).replace("ZERO", zero)
    plan, answer = (plan_of_text(text, folder, request=Request(device="cpu", remedy=name)) for name in ("", remedy))
    return _tried(remedy, "", plan, answer).note


@pytest.mark.parametrize(
    ("remedy", "changed", "said"),
    [
        ("bf16", {}, "`mul` computes in the type of what it reads, float32"),
        ("checkpointing", {}, "no repeated blocks were found"),
        ("sdpa", {}, "no attention that keeps its matrices was found"),
        ("fused", {}, "the peak is in backward, not in the optimizer step"),
        ("fused", {"optimizer": "Rprop"}, "the optimizer has no such option"),
        ("foreach-off", {}, "the peak is in backward, not in the optimizer step"),
        ("set-to-none", {}, "`zero_grad(set_to_none=False)` is called nowhere"),
        ("set-to-none", {"zero": "net.zero_grad(set_to_none=False)"}, "gradients are 0.5% of the peak"),
    ],
)
def test_the_reason_is_what_was_seen(remedy: str, changed: dict[str, str], said: str, tmp_path: Path) -> None:
    assert _note(remedy, tmp_path, **changed) == f"gains nothing: {said}"


_PLAN = MemoryPlan(
    step=None,
    mode="fake-cpu",
    card="H200",
    steps=2,
    peak_allocated=1000,
    peak_reserved=1200,
    peak_requested=900,
    context=0,
    phase="forward",
    peak_step=2,
    by_category={"activations": 900, "workspace": 100},
    remedied=Remedied(changed=0),
)


@pytest.mark.parametrize(
    ("name", "done", "said"),
    [
        ("bf16", Remedied(changed=0), "that is where it was to begin"),
        ("bf16", Remedied(changed=0, already=2), "the script computes under autocast already"),
        ("bf16", Remedied(changed=2), "no result of a product or a convolution"),
        ("checkpointing", Remedied(changed=4), "what the repeated blocks keep is little of the peak"),
        ("sdpa", Remedied(changed=2), "are not what is held at the peak"),
        ("fused", Remedied(changed=0, already=1), "the optimizer is fused already"),
        ("node-batches", Remedied(changed=0), "no call of the model has the whole graph"),
        ("accumulation", Remedied(changed=0), "does not grow with it"),
    ],
)
def test_what_was_changed_decides_the_reason(name: str, done: Remedied, said: str) -> None:
    tried = _tried(name, "", _PLAN, replace(_PLAN, remedied=done))
    assert tried.is_known
    assert tried.note.startswith("gains nothing: ")
    assert said in tried.note


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "not known: with it the script ended without an answer"),
        (replace(_PLAN, steps=0), "not known: with it no optimizer step was come to"),
        (
            replace(_PLAN, lost=LostTrack(error="RuntimeError: no", where=Location(file="train.py", line=7))),
            "not known: with it the script could not be followed: it stopped at train.py:7: RuntimeError: no",
        ),
    ],
)
def test_a_run_that_came_to_nothing_is_said_to(answer: MemoryPlan | None, said: str) -> None:
    tried = _tried("bf16", "", _PLAN, answer)
    assert not tried.is_known
    assert tried.note == said
