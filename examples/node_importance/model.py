"""Node importance: graph attention with edge-type embeddings and edge weights, then a decoder with two streams."""

import math

import torch
from torch import nn


class EdgeAttention(nn.Module):
    """Graph attention in which an edge has a type with an embedding, and a learned weight."""

    def __init__(self, width, edge_types, heads=2):
        super().__init__()
        self.heads, self.each = heads, width // heads
        self.fc = nn.Linear(width, width, bias=False)
        self.kind = nn.Embedding(edge_types, width)
        self.attn_l = nn.Parameter(torch.randn(heads, self.each) * 0.1)
        self.attn_r = nn.Parameter(torch.randn(heads, self.each) * 0.1)
        self.attn_m = nn.Parameter(torch.randn(heads, self.each) * 0.1)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x, edge_index, edge_type, edge_weight):
        source, target = edge_index
        h = self.fc(x).view(-1, self.heads, self.each)
        kind = self.kind(edge_type).view(-1, self.heads, self.each)
        score = (h * self.attn_l).sum(-1)[source] + (h * self.attn_r).sum(-1)[target] + (kind * self.attn_m).sum(-1)
        score = torch.exp(nn.functional.leaky_relu(score, 0.2).clamp(max=20)) * edge_weight[:, None]
        total = torch.zeros(len(x), self.heads).index_add(0, target, score)
        share = score / (total[target] + 1e-9)
        sent = (h[source] + kind) * share[..., None]
        gathered = torch.zeros_like(h).index_add(0, target, sent)
        return gathered.reshape(len(x), -1) + self.bias


class JointLayer(nn.Module):
    """One decoder layer: attention over the tokens of a node, for the mean and for its uncertainty."""

    def __init__(self, width, heads=2):
        super().__init__()
        self.heads, self.each = heads, width // heads
        self.mean = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.spread = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.mean_out = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
        self.spread_out = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def attend(self, maps, x):
        batch, tokens, width = x.shape
        q, k, v = (m(x).view(batch, tokens, self.heads, self.each).transpose(1, 2) for m in maps)
        share = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.each), dim=-1)
        return (share @ v).transpose(1, 2).reshape(batch, tokens, width)

    def forward(self, mean, spread):
        mean = mean + self.attend(self.mean, mean)
        spread = spread + self.attend(self.spread, spread)
        return mean + self.mean_out(mean), spread + self.spread_out(spread)


class Estimator(nn.Module):
    """Attention layers over the graph, then `layers` joint layers over `tokens` tokens of every node of the graph."""

    def __init__(self, graph, width=16, tokens=4, layers=2, sick="none"):
        super().__init__()
        self.sick, self.tokens = sick, tokens
        self.into = nn.Linear(graph.features.shape[1], width)
        self.convs = nn.ModuleList(EdgeAttention(width, graph.edge_types) for _ in range(2))
        self.to_tokens = nn.Linear(width, tokens * width)
        self.decoder = nn.ModuleList(JointLayer(width) for _ in range(layers))
        self.to_mean, self.to_spread = nn.Linear(width, 1), nn.Linear(width, 1)
        edges = graph.edge_type.numel()
        if sick == "edge-weight":
            self.score = nn.Linear(1, 1)
            self.edge_weight = torch.sigmoid(self.score(torch.ones(edges, 1))).squeeze(1)
        elif sick == "module-list":
            self.scales = nn.ModuleList([nn.Linear(width, width), nn.Parameter(torch.ones(width))])
        else:
            self.weight_of_type = nn.Embedding(graph.edge_types, 1)

    def weights(self, graph):
        if self.sick == "edge-weight":
            return self.edge_weight
        if self.sick == "born-in-forward":
            return torch.sigmoid(nn.Parameter(torch.randn(graph.edge_type.numel())))
        return torch.sigmoid(self.weight_of_type(graph.edge_type)).squeeze(1)

    def forward(self, graph):
        """Mean and log-variance of the importance of every node."""
        edge_weight = self.weights(graph)
        x = self.into(graph.features)
        for conv in self.convs:
            x = x + torch.relu(conv(x, graph.edge_index, graph.edge_type, edge_weight))
        mean = spread = self.to_tokens(x).view(len(x), self.tokens, -1)
        for layer in self.decoder:
            mean, spread = layer(mean, spread)
        return self.to_mean(mean.mean(dim=1)).squeeze(1), self.to_spread(spread.mean(dim=1)).squeeze(1)


class UncertainLoss(nn.Module):
    """The likelihood of the importance under the mean and the log-variance: an uncertain answer costs less."""

    def forward(self, mean, log_variance, wanted):
        log_variance = log_variance.clamp(-6, 6)
        return 0.5 * (log_variance + (mean - wanted).pow(2) / log_variance.exp()).mean()


class MisspelledLoss(nn.Module):
    def foward(self, mean, log_variance, wanted):
        return (mean - wanted).pow(2).mean()
