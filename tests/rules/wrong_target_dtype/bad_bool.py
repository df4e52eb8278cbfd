import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(160, 10)
tags = x[:, :4] > 0.8
often = tags.float().mean(0)
loader = DataLoader(TensorDataset(x, tags), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 4))
criterion = nn.BCEWithLogitsLoss(pos_weight=(1 - often) / often)
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for rows, target in loader:
    loss = criterion(net(rows), target)  # expect: ERR008
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
