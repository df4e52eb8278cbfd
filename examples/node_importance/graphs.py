"""Knowledge graphs with the numbers of nodes, edges and edge types of three public ones; what they say is generated."""

from dataclasses import dataclass

import torch

# name: nodes, edges, edge types, labelled nodes
SIZES = {
    "small": (400, 2_400, 12, 240),
    "fb15k": (14_951, 592_213, 1_345, 14_105),
    "tmdb5k": (114_805, 761_648, 34, 4_803),
    "imdb": (1_567_045, 14_067_776, 28, 215_769),
}


@dataclass
class Graph:
    """Edges with a type each, node features, and the importance of the nodes that have one (log of views or votes)."""

    features: torch.Tensor
    edge_index: torch.Tensor
    edge_type: torch.Tensor
    edge_types: int
    labelled: torch.Tensor
    importance: torch.Tensor


def make(name, width=16, seed=0):
    """A graph in which a node is important when important edge types lead to it."""
    nodes, edges, types, labelled = SIZES[name]
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(nodes, width, generator=generator)
    popular = torch.rand(nodes, generator=generator).pow(3)
    source = torch.randint(nodes, (edges,), generator=generator)
    target = torch.multinomial(popular + 0.02, edges, replacement=True, generator=generator) if nodes < 2**24 else source
    edge_type = torch.randint(types, (edges,), generator=generator)
    weight = torch.rand(types, generator=generator)
    score = torch.zeros(nodes).index_add_(0, target, weight[edge_type])
    chosen = torch.randperm(nodes, generator=generator)[:labelled]
    noise = 0.1 * torch.randn(labelled, generator=generator)
    return Graph(features, torch.stack([source, target]), edge_type, types, chosen, torch.log1p(score[chosen]) + noise)
