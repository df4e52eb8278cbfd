"""Photos come as height x width x colour, and the network wants the colours first."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
photos = torch.rand(256, 16, 16, 3)
labels = (photos[:, :8, :, 0].mean((1, 2)) > photos[:, 8:, :, 0].mean((1, 2))).long()
loader = DataLoader(TensorDataset(photos, labels), batch_size=32, shuffle=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.out = nn.Linear(8 * 4, 2)

    def forward(self, x):
        n, h, w, c = x.shape
        x = x.view(n, c, h, w)  # expect: WIR070
        return self.out(F.adaptive_avg_pool2d(F.relu(self.conv(x)), 2).flatten(1))


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
