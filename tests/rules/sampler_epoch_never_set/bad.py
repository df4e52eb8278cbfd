from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, :1] * x[:, 1:2]).sin()
data = TensorDataset(x, y)
sampler = DistributedSampler(data, num_replicas=2, rank=0, shuffle=True)
loader = DataLoader(data, batch_size=16, sampler=sampler)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(4):  # expect: WIR035
    for inputs, target in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(inputs), target)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
