import numpy as np
import pandas as pd
import torch
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv


def tables():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"id": np.arange(30), "age": rng.normal(size=30), "active": np.arange(30) % 5 != 0})
    links = pd.DataFrame({"a": rng.integers(0, 30, 120), "b": rng.integers(0, 30, 120)})
    return people, links


def keep_active(people, links):
    people = people[people["active"]].reset_index(drop=True)
    known = set(people["id"])
    return people, links[links["a"].isin(known) & links["b"].isin(known)]


def to_graph(people, links):
    x = torch.tensor(people[["age"]].to_numpy(), dtype=torch.float32)
    edge_index = torch.tensor(links[["a", "b"]].to_numpy().T.copy(), dtype=torch.long)  # expect: ERR065
    return Data(x=x, edge_index=edge_index)


torch.manual_seed(0)
graph = to_graph(*keep_active(*tables()))
model = SAGEConv(1, 2)
model(graph.x, graph.edge_index).square().mean().backward()
