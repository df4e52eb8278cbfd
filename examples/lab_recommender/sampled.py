"""Case A1: a loader that samples neighbours needs a compiled extension, which the whole-graph way does without."""

import argparse

import torch
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader

parser = argparse.ArgumentParser()
parser.add_argument("--whole", action="store_true", help="feed the whole graph: no extension is needed")
whole = parser.parse_args().whole

torch.manual_seed(0)
graph = Data(x=torch.randn(200, 8), edge_index=torch.randint(0, 200, (2, 900)), y=torch.randint(0, 3, (200,)))
batches = [graph] if whole else NeighborLoader(graph, num_neighbors=[5, 5], batch_size=32)
for batch in batches:
    print(batch.x.shape, batch.edge_index.shape)
