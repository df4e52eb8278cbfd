"""The sizes of cuDNN's recurrent layers against those read off an H200 (cuDNN 9.19, torch 2.11)."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.memory.running import plan_of_text
from torchmedic.checkups.memory.recurrent import _Shape

ROWS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "recurrent_truth.json").read_text())


def _name(row: dict[str, Any]) -> str:
    form = "packed" if row["packed"] else "padded"
    return (
        f"{row['kind']}-{row['layers']}x{row['directions']}x{row['width']}-{form}-{'half' if row['half'] else 'full'}"
    )


def _predicted(row: dict[str, Any]) -> tuple[int, int]:
    shape = _Shape(
        SimpleNamespace(),  # type: ignore[arg-type]
        row["kind"],
        row["layers"],
        row["directions"],
        False,
        row["dropout"],
        None,
        2 if row["kind"] == "lstm" else 1,
    )
    if row["packed"]:
        shape.sizes = [row["samples"]] * row["steps"]
    size = (row["positions"],) if row["packed"] else (row["steps"], row["samples"])
    dtype = torch.bfloat16 if row["half"] else torch.float32
    data = torch.empty(*size, row["given"], dtype=dtype, device="meta")
    return shape.workspace(data, row["width"]), shape.reserve(data, row["width"])


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_the_reserve_is_that_of_the_card(row: dict[str, Any]) -> None:
    assert _predicted(row)[1] == pytest.approx(row["reserve"], rel=1e-4)


def test_the_workspace_is_that_of_the_card_but_for_a_few_kernels() -> None:
    """Three small layers and a bidirectional GRU, padded, take kernels whose needs follow another law."""
    off = {_name(row) for row in ROWS if _predicted(row)[0] != pytest.approx(row["workspace"], rel=0.01)}
    known = {
        "lstm-3x1x128-padded-full",
        "gru-3x1x128-padded-full",
        "gru-1x1x256-padded-full",
        "gru-2x2x256-padded-full",
    }
    assert off == known


_CELLS = """
import torch
from torch import nn
cell = nn.{kind}(64, 512).cuda()
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
for step in range(3):
    hidden = torch.zeros(1000, 512).cuda()
    state = (hidden, hidden.clone()) if isinstance(cell, nn.LSTMCell) else hidden
    for x in torch.randn(4, 1000, 64).cuda():
        state = cell(x, state)
    loss = (state[0] if isinstance(state, tuple) else state).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        # Kept of each unit and step: the gates of both products and the state before, and what the kernel adds.
        ("GRUCell", 3 + 3 + 1 + 5),
        ("LSTMCell", 4 + 4 + 2 + 4),
    ],
)
def test_recurrent_cells_keep_their_gates(kind: str, values: int, tmp_path: Path) -> None:
    plan = plan_of_text(_CELLS.format(kind=kind), tmp_path)
    assert plan.lost is None
    assert plan.by_category["activations"] == pytest.approx(4 * values * 1000 * 512 * 4, rel=0.1)
