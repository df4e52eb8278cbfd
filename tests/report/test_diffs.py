"""Cures as diffs: only where it is certain which operand is meant."""

from __future__ import annotations

import pytest

from torchmedic.render.diffs import cure_diff


@pytest.mark.parametrize(
    ("source", "mark", "new", "line"),
    [
        ("y = torch.log(p).sum()", "torch.log(p)", "p.clamp_min(1e-8)", "y = torch.log(p.clamp_min(1e-8)).sum()"),
        (
            "return (t - mean) / std",
            "(t - mean) / std",
            "std.clamp_min(1e-8)",
            "return (t - mean) / std.clamp_min(1e-8)",
        ),
        ("z = x / x", "x / x", "x.clamp_min(1e-8)", "z = x / x.clamp_min(1e-8)"),
        ("z = p.sqrt()", "p.sqrt()", "p.clamp_min(1e-12)", "z = p.clamp_min(1e-12).sqrt()"),
        ("z = torch.log(a * b)", "torch.log(a * b)", "(a * b).clamp_min(1)", "z = torch.log((a * b).clamp_min(1))"),
        ("z = torch.exp(f(x))", "torch.exp(f(x))", "f(x).clamp(max=80)", "z = torch.exp(f(x).clamp(max=80))"),
    ],
)
def test_the_operand_is_written_anew(source: str, mark: str, new: str, line: str) -> None:
    assert cure_diff(f"    {source}", mark, new) == f"- {source}\n+ {line}"


@pytest.mark.parametrize(
    ("source", "mark", "new"),
    [
        ("y = torch.log(p)", "torch.log(p)", "q.clamp_min(1e-8)"),  # not in the expression
        ("y = torch.log(p) + torch.log(p)", "torch.log(p)", "p.clamp_min(1e-8)"),  # which of the two
        ("y = torch.log(", "torch.log(", "p.clamp_min(1e-8)"),  # the rest stands on other lines
        ("y = x * x", "x * x", "x.clamp(max=9)"),  # which of the two
        ("y = torch.std(x)", "torch.std(x)", "correction=0"),  # no expression
        ("y = torch.log(概率)", "torch.log(概率)", "概率.clamp_min(1e-8)"),
    ],
)
def test_in_doubt_there_is_no_diff(source: str, mark: str, new: str) -> None:
    assert cure_diff(source, mark, new) is None
