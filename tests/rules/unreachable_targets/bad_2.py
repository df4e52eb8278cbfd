"""An autoencoder that ends in a sigmoid, against standardised pixels, with the error written by hand."""
import torch
from torch import nn


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(36, 8)
        self.decode = nn.Linear(8, 36)

    def forward(self, x):
        return torch.sigmoid(self.decode(torch.relu(self.encode(x))))  # expect: LOS010


torch.manual_seed(0)
pixels = (torch.rand(400, 6) @ torch.rand(6, 36)).clamp(0, 3) / 3
pixels = (pixels - pixels.mean()) / pixels.std()
model = AutoEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    for batch in pixels[torch.randperm(400)].split(40):
        rebuilt = model(batch)
        loss = (rebuilt - batch).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} error {loss.item():.3f}")
