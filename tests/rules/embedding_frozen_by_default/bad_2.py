"""The embedding has an optimizer to itself, and nothing to do for it."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
items = torch.randint(0, 120, (900, 6))
ratings = (items % 5).float().mean(1, keepdim=True)
table = nn.EmbeddingBag.from_pretrained(torch.randn(120, 12), mode="sum")  # expect: WIR117
head = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 1))
optimizers = [torch.optim.SGD(table.parameters(), lr=0.05), torch.optim.Adam(head.parameters(), lr=3e-3)]
for epoch in range(3):
    for idx in torch.randperm(900).split(45):
        loss = F.mse_loss(head(table(items[idx])), ratings[idx])
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
