"""How bad values are kept out is told in the words of what holds them: frames, arrays, tensors, graphs, samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from torch.utils.data import TensorDataset
from torch_geometric.data import Data, HeteroData

import torchmedic


def bad(*shape: int) -> Any:
    values = np.ones(shape, dtype=np.float32)
    values.reshape(-1)[7] = np.nan
    return values


def hetero() -> HeteroData:
    graph = HeteroData()
    graph["patient"].x = torch.from_numpy(bad(50, 3))
    graph["patient", "has", "test"].edge_index = torch.arange(20).repeat(2, 1)
    graph["test"].x = torch.ones(50, 3)
    return graph


RING = torch.arange(50).repeat(2, 1)
HELD = {
    "pandas": (pd.DataFrame({"ratio": bad(50)}), "`df = df[np.isfinite(df['ratio'])]`"),
    "polars": (pl.DataFrame({"ratio": bad(50)}), "`df = df.filter(pl.col('ratio').is_finite())`"),
    "pyarrow": (pa.table({"ratio": bad(50)}), "`table = table.filter(pc.is_finite(table['ratio']))`"),
    "array": (bad(50, 3), "`x = x[np.isfinite(x).all(axis=1)]`"),
    "tensor": (torch.from_numpy(bad(50, 3)), "`x = x[torch.isfinite(x).all(dim=1)]`"),
    "pictures": (torch.from_numpy(bad(50, 3, 4, 4)), "`x = x[torch.isfinite(x).flatten(1).all(dim=1)]`"),
    "column": (bad(50), "`x = x[np.isfinite(x)]`"),
    "samples": (TensorDataset(torch.from_numpy(bad(50, 3))), "`torch.utils.data.Subset(dataset, good)`"),
    "nodes": (Data(x=torch.from_numpy(bad(50, 3)), edge_index=RING), "`graph.subgraph(keep)`"),
    "nodes-of-a-type": (hetero(), "`graph.subgraph({'patient': keep})`"),
    "edges": (
        Data(x=torch.ones(50, 3), edge_index=RING, edge_attr=torch.from_numpy(bad(50, 2))),
        "`keep = torch.isfinite(edge_attr).all(dim=1)`, then `edge_index[:, keep]` and `edge_attr[keep]`",
    ),
    "either": ({"signals": bad(50, 3)}, "by `isfinite`"),
}


def advice(data: Any) -> str:
    (found,) = [d for d in torchmedic.check_data(data).diagnoses if d.code == "DAT100"]
    return " ".join(remedy.title for remedy in found.remedies)


@pytest.mark.parametrize("kind", HELD)
def test_what_a_script_holds_is_kept_out_in_its_own_words(kind: str) -> None:
    data, told = HELD[kind]
    assert told in advice(data)
    assert "--rows" not in advice(data), "the command reads files only"
    assert ("df[" in advice(data)) == (kind == "pandas")


def test_what_lies_in_files_is_listed_and_kept_out_by_the_library_that_reads_it(tmp_path: Path) -> None:
    torch.save({"signals": torch.from_numpy(bad(50, 3))}, tmp_path / "a.pt")
    np.savez(tmp_path / "b.npz", signals=bad(50, 3))
    (tmp_path / "c.csv").write_text("ratio\n" + "1.5\n" * 40 + "nan\n")
    told = {name: advice(tmp_path / name) for name in ("a.pt", "b.npz", "c.csv")}
    assert all("`--rows bad.parquet` lists every one" in words for words in told.values())
    assert "`signals = signals[torch.isfinite(signals).all(dim=1)]`" in told["a.pt"]
    assert "`signals = signals[np.isfinite(signals).all(axis=1)]`" in told["b.npz"]
    assert "`df = df[np.isfinite(df['ratio'])]`" in told["c.csv"]
