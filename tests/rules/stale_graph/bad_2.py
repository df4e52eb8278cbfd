import torch
from torch import nn

torch.manual_seed(0)
raw = nn.Parameter(torch.randn(30))
layer = nn.Linear(8, 8)
edges = torch.randint(0, 12, (2, 30))
nodes = torch.randn(12, 8)
target = torch.randn(12, 8)
optimizer = torch.optim.Adam([raw, *layer.parameters()])
edge_weight = torch.sigmoid(raw)  # expect: ERR015
for epoch in range(5):
    messages = layer(nodes)[edges[0]] * edge_weight[:, None]
    out = torch.zeros(12, 8).index_add(0, edges[1], messages)
    loss = nn.functional.mse_loss(out, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
