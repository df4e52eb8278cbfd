import torch
from torch_geometric.data import Data

import torchmedic

torch.manual_seed(2)
papers = 400
links = torch.cat([torch.randint(0, papers, (2, 2400)), torch.arange(papers).repeat(2, 1).roll(1, 1)], dim=1)
graph = Data(x=torch.randn(papers, 16), edge_index=links.unique(dim=1), y=torch.randint(0, 4, (papers,)))
order = torch.randperm(papers)
graph.train_mask = torch.zeros(papers, dtype=torch.bool)
graph.test_mask = torch.zeros(papers, dtype=torch.bool)
graph.train_mask[order[:240]] = True
graph.test_mask[order[240:]] = True

torchmedic.check_data(graph)
