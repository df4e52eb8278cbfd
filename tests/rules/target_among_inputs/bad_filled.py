"""Windows are cut once and kept in a list of pairs; each window ends with the hour that is to be predicted."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Hours(Dataset):
    def __init__(self, demand, length=12):
        self.pairs = []
        for end in range(length, len(demand)):
            self.pairs.append((demand[end - length + 1 : end + 1], demand[end]))  # expect: DAT073

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        return self.pairs[i]


torch.manual_seed(0)
demand = torch.sin(torch.arange(600.0) / 4) + 0.4 * torch.randn(600)
loader = DataLoader(Hours(demand), batch_size=42, shuffle=True)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    for past, following in loader:
        loss = nn.functional.mse_loss(model(past).squeeze(1), following)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
