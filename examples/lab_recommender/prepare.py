"""From tables to graphs: z-scores per item, then one heterogeneous graph per batch of admissions, saved in order."""

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch_geometric.data import HeteroData

STEPS = 20


def read_tables(folder):
    """The events without doubles, each with its admission and item as numbers from 0, and its day."""
    folder = Path(folder)
    items = pd.read_csv(folder / "D_LABITEMS.csv.gz")
    admissions = pd.read_csv(folder / "ADMISSIONS.csv.gz")
    events = pd.read_csv(folder / "LABEVENTS.csv.gz", parse_dates=["CHARTTIME"])
    events = events.drop_duplicates().reset_index(drop=True)
    events["admission"] = events["HADM_ID"].map(pd.Series(admissions.index, index=admissions["HADM_ID"]))
    events["item"] = events["ITEMID"].map(pd.Series(items.index, index=items["ITEMID"]))
    first = events.groupby("HADM_ID")["CHARTTIME"].transform("min").dt.normalize()
    events["step"] = (events["CHARTTIME"].dt.normalize() - first).dt.days.clip(upper=STEPS)
    return events, admissions, items


def z_scores(events, floor=0.0, epsilon=0.0):
    """How far each value is from the mean of its item, in standard deviations of that item."""
    values = events.groupby("ITEMID")["VALUENUM"]
    mean, std = values.mean(), values.std()
    if floor:
        std = std.clip(lower=floor)
    if epsilon:
        std = std + epsilon
    return (events["VALUENUM"] - events["ITEMID"].map(mean)) / events["ITEMID"].map(std)


def graph_of(events, first, count, items):
    """Events of `count` admissions from `first` on: edges with (category, z-score), and what comes a day later."""
    edges = torch.tensor(np.stack([events["admission"] - first, events["item"]]), dtype=torch.long)
    step = torch.tensor(events["step"].to_numpy(), dtype=torch.long)
    features = torch.tensor(events[["CATEGORY", "z"]].to_numpy(), dtype=torch.float32)
    graph = HeteroData()
    graph["admission"].x = torch.ones(count, 1)
    graph["item"].x = torch.arange(items)
    known = step < STEPS
    graph["admission", "has", "item"].edge_index = edges[:, known]
    graph["admission", "has", "item"].edge_attr = features[known]
    graph["admission", "has", "item"].step = step[known]
    # The answer for step t is what is ordered at t + 1.
    later = step > 0
    graph["admission", "next", "item"].edge_index = edges[:, later]
    graph["admission", "next", "item"].step = step[later] - 1
    return graph


def make_graphs(tables, folder, batch_size=128, fill=0.0, floor=0.0, epsilon=0.0):
    """Write the graphs as files; the order of the admissions is that of the table, always."""
    events, admissions, items = read_tables(tables)
    events["z"] = z_scores(events, floor, epsilon)
    events["z"] = events["z"].fillna(fill)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("graph_*.pt"):
        old.unlink()
    for number, first in enumerate(range(0, len(admissions) - batch_size + 1, batch_size)):
        part = events[(events["admission"] >= first) & (events["admission"] < first + batch_size)]
        torch.save(graph_of(part, first, batch_size, len(items)), folder / f"graph_{number:03d}.pt")
    return sorted(folder.glob("graph_*.pt"))
