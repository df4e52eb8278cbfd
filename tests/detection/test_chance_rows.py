"""Test rows that equal trained ones: copies, or people who tick the same boxes."""

from __future__ import annotations

import pytest
import torch

from torchmedic.probes.data.kin_rows import RowSample, _count_mixed, coincide_by_chance


def _sample(rows: torch.Tensor) -> RowSample:
    sample = RowSample()
    sample.take(rows)
    return sample


def _flags(columns: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return ((torch.rand(1500, columns, generator=generator) < 0.1).float() - 0.1) / 0.3


def _measured(columns: int) -> torch.Tensor:
    return torch.randn(1500, columns, generator=torch.Generator().manual_seed(1))


def _one_hot(classes: int) -> torch.Tensor:
    drawn = torch.randint(0, classes, (1500,), generator=torch.Generator().manual_seed(classes))
    return torch.nn.functional.one_hot(drawn, classes).float() * 1.7 - 0.3


@pytest.mark.parametrize(
    "table",
    [_flags(10), torch.cat([_one_hot(12), _one_hot(9)], 1), torch.cat([_flags(5), _one_hot(50).cumsum(1)[:, ::10]], 1)],
    ids=["flags", "one-hot", "ranks"],
)
def test_rows_of_few_values_meet_by_chance(table: torch.Tensor) -> None:
    assert coincide_by_chance(_sample(table[:1200]), _sample(table[1200:1400]))


@pytest.mark.parametrize(
    "table", [_measured(6), torch.cat([_flags(6), _measured(1)], 1)], ids=["measured", "flags and one measured"]
)
def test_copies_are_no_chance(table: torch.Tensor) -> None:
    tested = torch.cat([table[:100], table[1200:1300]])
    assert not coincide_by_chance(_sample(table[:1200]), _sample(tested))


def test_no_mixtures_on_a_lattice() -> None:
    answers = (_measured(8) * 1.2).round().double() / 1.1
    assert _count_mixed(answers[:1000], answers[1000:1100]) == 0
