"""A script that names no card is counted as the same script on a card is."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.memory.running import plan_of_text
from torchmedic.checkups.memory.asking import Request
from torchmedic.facts import MemoryPlan

_BEGIN = """
import copy
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
D = "DEVICE"
"""
_LOOP = """
model = Net().to(D)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    data, labels = torch.randn(64, 100, 256).to(D), torch.randint(0, 10, (64,)).to(D)
    loss = F.cross_entropy(model(data), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
"""

_NETS = {
    "dropout and its kin": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.wide, self.last = nn.Linear(256, 1024), nn.Linear(1024, 10)
                self.norm, self.act, self.drop = nn.LayerNorm(1024), nn.SiLU(), nn.Dropout(0.2)
            def forward(self, x):
                return self.last(self.drop(self.act(self.norm(self.wide(x)))).mean(1))
    """,
    "recurrent layer on packed data": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.LSTM(256, 128, 2, batch_first=True, bidirectional=True, dropout=0.1)
                self.last = nn.Linear(256, 10)
            def forward(self, x):
                lengths = torch.arange(100, 36, -1)
                out, _ = pad_packed_sequence(self.rnn(pack_padded_sequence(x, lengths, batch_first=True))[0], True)
                return self.last(out.amax(1))
    """,
    "cells whose results are written into a tensor": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell, self.other, self.last = nn.LSTMCell(256, 512), nn.GRUCell(512, 512), nn.Linear(512, 10)
            def forward(self, x):
                h = c = g = torch.zeros(64, 512, device=x.device)
                out = torch.zeros(64, 100, 512, device=x.device)
                for step in range(12):
                    h, c = self.cell(x[:, step], (h, c))
                    g = self.other(h, g)
                    out[:, step] = g
                return self.last(out.sum(1))
    """,
    "torch's own transformer": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                layer = nn.TransformerEncoderLayer(256, 8, 512, dropout=0.1, batch_first=True)
                self.body, self.last = nn.TransformerEncoder(layer, 3), nn.Linear(256, 10)
            def forward(self, x):
                hidden = torch.ones(100, 100, device=x.device).triu(1) > 0
                mask = torch.zeros(100, 100, device=x.device).masked_fill(hidden, -1e9)
                return self.last(self.body(x, mask=mask)[:, 0])
    """,
    "attention by hand, in a copy": """
        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.q, self.k, self.v = (nn.Linear(256, 256) for _ in range(3))
            def forward(self, x):
                weights = F.dropout((self.q(x) @ self.k(x).transpose(1, 2) / 16).softmax(-1), 0.1, self.training)
                return weights @ self.v(x)
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                first = Attention()
                self.body, self.last = nn.Sequential(first, copy.deepcopy(first)), nn.Linear(256, 10)
            def forward(self, x):
                rows = pad_sequence([row[: 50 + n % 50] for n, row in enumerate(self.body(x))], batch_first=True)
                return self.last(rows.sum(1))
    """,
    "convolutions": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Sequential(nn.Conv1d(100, 64, 3), nn.BatchNorm1d(64), nn.ReLU(), nn.Conv1d(64, 64, 3))
                self.last = nn.Linear(64, 10)
            def forward(self, x):
                return self.last(self.body(x).mean(2))
    """,
}  # fmt: skip


def _plan(net: str, device: str, remedy: str, folder: Path) -> MemoryPlan:
    text = (_BEGIN + textwrap.dedent(_NETS[net]) + _LOOP).replace("DEVICE", device)
    return plan_of_text(text, folder, request=Request(device=device, remedy=remedy))


_OTHERS = [("attention by hand, in a copy", "fp16"), ("dropout and its kin", "foreach-off")]


@pytest.mark.parametrize(("net", "remedy"), [*((net, remedy) for net in _NETS for remedy in ("", "bf16")), *_OTHERS])
def test_the_peak_is_that_of_the_card(net: str, remedy: str, tmp_path: Path) -> None:
    on_card, on_cpu = (_plan(net, device, remedy, tmp_path) for device in ("cuda", "cpu"))
    assert (on_card.lost, on_cpu.lost) == (None, None)
    assert on_cpu.peak_allocated == pytest.approx(on_card.peak_allocated, rel=0.01)
    for phase in ("forward", "backward", "optimizer"):
        assert on_cpu.phase_peaks[phase] == pytest.approx(on_card.phase_peaks[phase], rel=0.03)


def test_a_copy_of_a_layer_shares_memory_with_its_views(tmp_path: Path) -> None:
    text = """
        import copy
        import torch
        layer = torch.nn.Linear(1024, 1024).cuda()
        model = torch.nn.Sequential(layer, copy.deepcopy(layer))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            model(torch.randn(8, 1024, device="cuda")).sum().backward()
            optimizer.step()
    """
    plan = plan_of_text(textwrap.dedent(text), tmp_path)
    assert plan.lost is None
    assert plan.by_category["parameters"] == pytest.approx(2 * 4 * 1024 * 1025, rel=0.01)
    assert plan.by_category["activations"] < 1 << 20
