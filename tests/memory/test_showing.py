"""Lines that only show numbers: none of them may end a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory.running import plan_of_text

_SCRIPT = """
import json, math, torch
layer = torch.nn.Linear(32, 4).cuda()
optimizer = torch.optim.Adam(layer.parameters())
for _ in range(3):
    output = layer(torch.randn(16, 32, device="cuda"))
    loss = output.square().mean()
    loss.backward()
    optimizer.step()
    count = (output > 0).sum()
    {line}
"""


@pytest.mark.parametrize(
    "line",
    [
        "text = f'{loss:.4f} {loss.detach():>9.2e} {count:5d} {output.mean().half():.1%} {loss.cpu():g}'",
        "text = 'loss {:.3f} of {n:d}'.format(loss, n=count) + '%.2f %d %s' % (loss, count, loss)",
        "print(loss, output, count, layer.weight, layer.weight.grad, optimizer); text = str(loss) + repr(output)",
        "text = json.dumps([float(loss), int(count), bool(count), round(loss.item(), 3), output.tolist()])",
        "math.isfinite(loss) and math.exp(loss) and math.ceil(loss) and max(0.0, loss)",
        "assert torch.tensor([loss, loss]).mean() == 1 and torch.tensor([[loss], [count]]).shape == (2, 1)",
    ],
)
def test_what_only_shows_a_number_is_passed(line: str, tmp_path: Path) -> None:
    plan = plan_of_text(_SCRIPT.format(line=line), tmp_path)
    assert (plan.lost, plan.steps) == (None, 2)


@pytest.mark.parametrize("line", ["f'{output:.2f}'", "round(loss, 3)"])
def test_what_a_card_would_refuse_is_refused_here(line: str, tmp_path: Path) -> None:
    plan = plan_of_text(_SCRIPT.format(line=line), tmp_path)
    assert plan.lost is not None
    assert plan.lost.error.startswith("TypeError")
