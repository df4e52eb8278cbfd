"""Attention that is written out: however it is written, what a kernel in its place would hold is what it does hold."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.memory.running import plan_of_text
from torchmedic.checkups.memory.asking import Request
from torchmedic.facts import MemoryPlan

_SCRIPT = """
import torch
import torch.nn.functional as F
from torch import nn
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.gate = nn.Linear(128, 384), nn.Linear(128, 128), nn.Linear(128, 200)
        self.mix, self.rel = nn.Linear(4, 4), nn.Parameter(torch.zeros(4, 200, 200))
    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, 4, 32).permute(2, 0, 3, 1, 4)
        rows = [t.reshape(-1, *t.shape[2:]) for t in (q, k, v)]
        mask = torch.ones(t, t, device=x.device).triu(1) > 0
        WAY
        return x + self.out(o.transpose(1, 2).reshape(b, t, c))
class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.all = nn.MultiheadAttention(128, 4, batch_first=True)
    def forward(self, x):
        return x + self.all(x, x, x, need_weights=WEIGHTS)[0]
net = nn.Sequential(*[CLASS() for _ in range(3)], nn.Linear(128, 10)).to("DEVICE")
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(2):
    with torch.autocast("DEVICE", torch.bfloat16, enabled=HALF):
        loss = net(torch.randn(8, 200, 128, device="DEVICE")).float().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
_KERNEL = "o = F.scaled_dot_product_attention(q, k, v)"
_MASKED = "o = F.scaled_dot_product_attention(q, k, v, attn_mask=~mask)"
_WAYS = {
    "matmul": ("w = F.softmax(torch.matmul(q, k.transpose(-2, -1)) / 6, dim=-1); o = torch.matmul(w, v)", _KERNEL),
    "scaled before": ("w = torch.softmax((q / 6) @ k.mT, dim=-1); o = w @ v", _KERNEL),
    "masked, with dropout": (
        "a = (q @ k.mT).masked_fill(mask, float('-inf')); o = F.dropout(a.softmax(-1), 0.1) @ v",
        _MASKED.replace(")", ", dropout_p=0.1)"),
    ),
    "in place": ("a = q @ k.mT; a /= 6; a.masked_fill_(mask, -1e9); o = a.softmax(-1) @ v", _MASKED),
    "einsum": (
        "w = torch.einsum('bhqd,bhkd->bhqk', q, k).softmax(-1); o = torch.einsum('bhqk,bhkd->bhqd', w, v)",
        _KERNEL,
    ),
    "einsum, heads last": (
        "w = torch.einsum('bhqd,bhkd->bqkh', q, k).softmax(2); o = torch.einsum('bqkh,bhkd->bhqd', w, v)",
        _KERNEL,
    ),
    "bmm": (
        "o = torch.bmm(torch.bmm(rows[0], rows[1].mT).softmax(-1), rows[2]).view(q.shape)",
        _KERNEL,
    ),
    "baddbmm": (
        "o = torch.bmm(torch.baddbmm(q.new_zeros(1, 1), rows[0], rows[1].mT).softmax(-1), rows[2]).view(q.shape)",
        _KERNEL,
    ),
    "exponentials": (
        "a = torch.where(mask, -1e9, q @ k.mT); e = (a - a.amax(-1, True)).exp(); o = (e / e.sum(-1, True)) @ v",
        _MASKED,
    ),
    "keys first": ("w = (k @ q.mT).softmax(-2); o = (v.mT @ w).mT", _KERNEL),
}
_OTHERS = {
    "softmax over the queries": "o = (q @ k.mT).softmax(-2) @ v",
    "no matrix": "o = q.softmax(-1) @ (k.softmax(-2).mT @ v)",
    "a gate for each pair": "o = ((q @ k.mT) * self.gate(x)[:, None]).softmax(-1) @ v",
    "a bias that learns": "o = (q @ k.mT + self.rel).softmax(-1) @ v",
    "another function of the scores": "o = (torch.tanh(q @ k.mT) * 9).softmax(-1) @ v",
    "scores that are sums": "o = (q.sum(-1)[..., None] + k.sum(-1)[..., None, :]).softmax(-1) @ v",
    "no softmax": "o = torch.sigmoid(q @ k.mT) @ v",
    "heads that talk": "o = self.mix((q @ k.mT).permute(0, 2, 3, 1)).permute(0, 3, 1, 2).softmax(-1) @ v",
    "a loss of similarities": "o = q; x = x + F.cross_entropy(rows[0][0] @ rows[1][0].mT, mask[0].long())",
}


def _plan(folder: Path, way: str, *, device: str = "cuda", half: bool = False, whole: str = "") -> MemoryPlan:
    words = {"WAY": way, "DEVICE": device, "HALF": str(half), "CLASS": "Whole" if whole else "Attention"}
    text = _SCRIPT
    for word, meant in {**words, "WEIGHTS": whole or "True"}.items():
        text = text.replace(word, meant)
    plan = plan_of_text(textwrap.dedent(text), folder, request=Request(device=device, remedy="sdpa"))
    assert plan.lost is None
    return plan


@pytest.mark.parametrize("way", _WAYS)
def test_a_kernel_would_hold_what_it_is_said_to(way: str, tmp_path: Path) -> None:
    by_hand, kernel = _WAYS[way]
    device = "cpu" if way in ("matmul", "masked, with dropout", "einsum") else "cuda"
    written, exchanged = _plan(tmp_path, by_hand, device=device), _plan(tmp_path, kernel, device=device)
    assert exchanged.matrices is None
    assert written.matrices is not None
    assert written.matrices.where is not None
    assert written.matrices.where.source.strip() == by_hand
    assert exchanged.peak_allocated < 0.8 * written.peak_allocated
    assert written.matrices.allocated == pytest.approx(exchanged.peak_allocated, rel=0.03)


@pytest.mark.parametrize("way", ["matmul", "in place"])
def test_it_would_in_half_precision(way: str, tmp_path: Path) -> None:
    written, exchanged = (_plan(tmp_path, text, half=True) for text in _WAYS[way])
    assert written.matrices is not None
    assert written.matrices.allocated == pytest.approx(exchanged.peak_allocated, rel=0.03)


def test_a_layer_that_gives_its_weights_is_written_out(tmp_path: Path) -> None:
    written, exchanged = (_plan(tmp_path, "o = q", whole=weights) for weights in ("True", "False"))
    assert written.matrices is not None
    assert written.matrices.allocated == pytest.approx(exchanged.peak_allocated, rel=0.03)


@pytest.mark.parametrize("way", _OTHERS)
def test_what_no_kernel_computes_is_left_alone(way: str, tmp_path: Path) -> None:
    assert _plan(tmp_path, _OTHERS[way]).matrices is None


def test_of_short_rows_a_kernel_would_hold_more(tmp_path: Path) -> None:
    text = """
        import torch
        from torch import nn
        maps = nn.ModuleList(nn.Linear(64, 64) for _ in range(3))
        optimizer = torch.optim.SGD(maps.parameters(), 0.1)
        for _ in range(2):
            x = torch.randn(20000, 4, 64)
            q, k, v = (each(x) for each in maps)
            (x + WAY).pow(2).mean().backward()
            optimizer.step()
    """
    written, exchanged = (
        plan_of_text(textwrap.dedent(text).replace("WAY", way), tmp_path, request=Request(device="cpu", remedy="sdpa"))
        for way in (
            "(q @ k.mT).softmax(-1) @ v",
            "nn.functional.scaled_dot_product_attention(*(t[:, None] for t in (q, k, v)))[:, 0]",
        )
    )
    assert exchanged.peak_allocated > written.peak_allocated
    assert written.matrices is not None
    assert written.matrices.allocated == pytest.approx(exchanged.peak_allocated, rel=0.03)
