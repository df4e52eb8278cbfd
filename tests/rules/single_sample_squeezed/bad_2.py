"""Yes or no for every sample: 65 of them, in batches of 32."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(65, 6), torch.randint(0, 2, (65,)).float())
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(2):
    for x, y in DataLoader(data, batch_size=32):
        optimizer.zero_grad()
        logits = torch.squeeze(net(x))  # expect: ERR093
        loss = criterion(logits, y)
        loss.backward()
        optimizer.step()
