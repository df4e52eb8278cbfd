"""The recommender: a graph network at every time step, a transformer over time, a score for every admission and item."""

import torch
from torch import nn
from torch_geometric.nn import GATConv, GENConv, GINEConv, to_hetero

STEPS = 20
EDGE = ("admission", "has", "item")
BACK = ("item", "of", "admission")
ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "tanh": nn.Tanh, "leaky": nn.LeakyReLU}


def convolution(kind, width, activation):
    if kind == "gine":
        return GINEConv(nn.Sequential(nn.Linear(width, width), activation(), nn.Linear(width, width)), edge_dim=2)
    if kind == "gen":
        return GENConv(width, width, edge_dim=2)
    return GATConv((width, width), width, edge_dim=2, add_self_loops=False)


class Layers(nn.Module):
    """The network for one kind of node and edge; `to_hetero` copies it for every kind."""

    def __init__(self, kind, width, layers, activation):
        super().__init__()
        self.convs = nn.ModuleList(convolution(kind, width, activation) for _ in range(layers))
        self.activation = activation()

    def forward(self, x, edge_index, edge_attr):
        for conv in self.convs:
            x = x + self.activation(conv(x, edge_index, edge_attr))
        return x


class Recommender(nn.Module):
    """`frequency` is how often each item is ordered: where the scores start from."""

    def __init__(self, frequency, width=32, gnn="gine", gnn_layers=2, decoder_layers=3, activation="relu", mask_value=-torch.inf):
        super().__init__()
        items = len(frequency)
        act = ACTIVATIONS[activation]
        self.admission = nn.Linear(1, width)
        self.item = nn.Embedding(items, width)
        self.goal = nn.Linear(width, items)
        nn.init.normal_(self.goal.weight, std=0.02)
        self.gnn = to_hetero(Layers(gnn, width, gnn_layers, act), (["admission", "item"], [EDGE, BACK]))
        layer = nn.TransformerDecoderLayer(width, nhead=4, dim_feedforward=2 * width, dropout=0.1)
        self.decoder = nn.TransformerDecoder(layer, decoder_layers)
        with torch.no_grad():
            self.goal.bias.copy_(torch.as_tensor(frequency).clamp_min(1e-6).logit())
        mask = torch.triu(torch.ones(STEPS, STEPS), diagonal=1)
        self.register_buffer("mask", torch.where(mask > 0, mask_value, 0.0))

    def at_step(self, graph, step):
        """The features of admissions and items from the events of one step."""
        chosen = graph[EDGE].step == step
        edges, features = graph[EDGE].edge_index[:, chosen], graph[EDGE].edge_attr[chosen]
        x = {"admission": self.admission(graph["admission"].x), "item": self.item(graph["item"].x)}
        return self.gnn(x, {EDGE: edges, BACK: edges.flip(0)}, {EDGE: features, BACK: features})

    def forward(self, graph):
        """Logits [20, admissions, items]: what will be ordered on the next day."""
        steps = [self.at_step(graph, step) for step in range(STEPS)]
        admissions = torch.stack([x["admission"] for x in steps])
        admissions = self.decoder(admissions, admissions, tgt_mask=self.mask, memory_mask=self.mask)
        return self.goal(admissions)
