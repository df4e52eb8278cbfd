"""What the model was fed: pictures and rows of the first batches, and of the field that went wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import torchmedic
from torchmedic.facts import BatchField, Origin
from torchmedic.probes.objects.spreads import histogram, rows_as_text
from torchmedic.render.html import Report, page


def train(x: torch.Tensor) -> None:
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train_loader = DataLoader(TensorDataset(x, torch.arange(len(x)) % 2), batch_size=16)
    for inputs, labels in train_loader:
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_the_first_batch_of_a_loader_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with torchmedic.watch(quiet=True) as medic:
        train(torch.linspace(0, 1, 256).reshape(64, 4))
    assert medic.run is not None
    assert medic.verdict is not None
    inputs, labels = medic.run.all(BatchField)
    assert (inputs.loader, inputs.field, inputs.shape) == ("train_loader", "batch[0]", (16, 4))
    assert inputs.histogram is not None
    assert sum(inputs.histogram.counts) == 64
    assert labels.histogram is not None
    assert labels.histogram.counts == (8, 8)
    assert len(inputs.rows) == 3
    html = page(Report(verdict=medic.verdict, run=medic.run))
    assert "first batch of train_loader" in html
    assert html.count('class="spread"') == 4, "two fields, in two languages"


def test_the_field_that_went_wrong_comes_with_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    x = torch.linspace(0, 1, 256).reshape(64, 4)
    x[37, 2] = torch.nan
    with torchmedic.watch(quiet=True, on_sick="skip") as medic:
        train(x)
    assert medic.run is not None
    assert medic.verdict is not None
    origin = medic.run.first(Origin)
    assert origin is not None
    assert origin.source is not None
    assert origin.source.examples[0].startswith("5: ")
    assert "nan" in origin.source.examples[0]
    assert origin.source.histogram is not None
    assert sum(origin.source.histogram.counts) == 15, "the finite values of the one bad column"
    html = page(Report(verdict=medic.verdict, run=medic.run))
    assert "where it came in: batch[0], in the batch of the sick step" in html
    assert origin.source.examples[0] in html


def test_one_value_far_out_does_not_hide_the_others() -> None:
    values = torch.cat([torch.linspace(0, 1, 1000, dtype=torch.float64), torch.tensor([1e9, -1e9])])
    found = histogram(values)
    assert found is not None
    assert (found.below, found.above) == (1, 1)
    assert sum(found.counts) == 1000
    assert sum(1 for count in found.counts if count) > 5


def test_there_is_no_spread_in_one_value() -> None:
    assert histogram(torch.full((4,), 2.0)) is None
    assert histogram(torch.full((4,), torch.nan)) is None


def test_a_long_row_is_shown_about_the_column_that_matters() -> None:
    row = torch.arange(100.0)[None]
    assert rows_as_text(row, [0], 50) == ("0: … 46, 47, 48, 49, 50, 51, 52, 53 …",)
