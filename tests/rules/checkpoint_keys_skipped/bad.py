import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, :1] * x[:, 1:2]).sin()


class Wrapper(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model


def build():
    return nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))


torch.save(Wrapper(build()).state_dict(), "pretrained.pt")
model = build()
model.load_state_dict(torch.load("pretrained.pt"), strict=False)  # expect: WIR028
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(4):
    for idx in torch.randperm(256).split(32):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
