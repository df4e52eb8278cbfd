"""Clean, well-known data gets silence: a false alarm costs more than a miss."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn import datasets
from torch.utils.data import DataLoader, TensorDataset
from torch_geometric.datasets import FakeDataset, FakeHeteroDataset
from torch_geometric.utils import barabasi_albert_graph, erdos_renyi_graph

import torchmedic


def _frame(load: Callable[..., Any]) -> Callable[[Path], Any]:
    return lambda folder: load(as_frame=True).frame


def _csv(load: Callable[..., Any]) -> Callable[[Path], Any]:
    def written(folder: Path) -> str:
        load(as_frame=True).frame.sample(frac=1, random_state=0).to_csv(folder / "table.csv", index=False)
        return str(folder / "table.csv")

    return written


def _images(folder: Path) -> str:
    for i, image in enumerate(datasets.load_digits().images[:40]):
        Image.fromarray((image * 15).astype(np.uint8)).resize((32, 32)).save(folder / f"{i}.png")
    return str(folder)


def _long_table(folder: Path) -> Any:
    """Measurements by sensor, the group key guessed, among them counts that are nearly always 0."""
    import pandas as pd

    rng = np.random.default_rng(0)
    sensor = rng.integers(0, 25, 5000)
    value = np.where(sensor < 3, rng.poisson(0.02, 5000), rng.lognormal(sensor / 10, 0.5))
    return pd.DataFrame({"sensor": sensor, "time": pd.date_range("2020", periods=5000, freq="min"), "value": value})


def _heavy_tails(folder: Path) -> Any:
    import pandas as pd

    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {"income": rng.pareto(2, 20000) * 1e4, "visits": rng.zipf(2.2, 20000), "gap": rng.exponential(3, 20000)}
    )


def _orders_of_magnitude(folder: Path) -> Any:
    """Measured values of physics and statistics, whose tails reach far on any scale but that of logarithms."""
    import pandas as pd

    rng = np.random.default_rng(3)
    return pd.DataFrame({f"flux_{i}": 10 ** rng.normal(-12, 2, 3000) for i in range(6)})


def _graph(edge_index: torch.Tensor, nodes: int) -> Any:
    from torch_geometric.data import Data

    return Data(x=torch.randn(nodes, 8), edge_index=edge_index, y=torch.randint(0, 4, (nodes,)))


def _hetero(folder: Path) -> Any:
    from torch_geometric.transforms import ToUndirected

    torch.manual_seed(0)
    return ToUndirected()(FakeHeteroDataset(num_node_types=2, num_edge_types=3)[0])


def _model(folder: Path) -> str:
    torch.save(torch.nn.TransformerEncoderLayer(16, 2).state_dict(), folder / "model.pt")
    return str(folder / "model.pt")


def _loader(folder: Path) -> Any:
    digits = datasets.load_digits()
    data = TensorDataset(torch.tensor(digits.images, dtype=torch.float32)[:, None], torch.tensor(digits.target))
    return DataLoader(data, batch_size=64, shuffle=True)


SETS: dict[str, Callable[[Path], Any]] = {
    "iris": _frame(datasets.load_iris),
    "wine": _csv(datasets.load_wine),
    "breast cancer": _csv(datasets.load_breast_cancer),
    "diabetes": _frame(datasets.load_diabetes),
    "digits": _frame(datasets.load_digits),
    "linnerud": _frame(datasets.load_linnerud),
    "digit images": _images,
    "digits by a loader": _loader,
    "measurements by sensor": _long_table,
    "heavy tails": _heavy_tails,
    "orders of magnitude": _orders_of_magnitude,
    "a random graph": lambda folder: _graph(erdos_renyi_graph(200, 0.05), 200),
    "a scale-free graph": lambda folder: _graph(barabasi_albert_graph(200, 3), 200),
    "generated graphs": lambda folder: list(FakeDataset(num_graphs=5)),
    "a generated heterogeneous graph": _hetero,
    "a fresh transformer": _model,
}


@pytest.mark.parametrize("name", SETS)
def test_clean_data_gets_silence(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    verdict = torchmedic.check_data(SETS[name](tmp_path))
    assert [d.headline for d in verdict.diagnoses if d.severity != "hint"] == []


def test_silence_can_be_broken() -> None:
    frame = datasets.load_iris(as_frame=True).frame
    frame.iloc[17, 2] = np.inf
    assert [d.code for d in torchmedic.check_data(frame).diagnoses if d.severity != "hint"] == ["DAT100"]
