import torch
from torch import nn


class Prototypes(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.body = nn.Linear(10, width)
        self.centers = nn.Parameter(torch.randn(classes, width, dtype=torch.float16))  # expect: WIR120

    def forward(self, x):
        return torch.relu(self.body(x)) @ self.centers.float().t()


torch.manual_seed(0)
x = torch.randn(400, 10)
y = x[:, :4].argmax(1)
model = Prototypes(16, 4)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
for rows in torch.randperm(len(x)).split(40):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
print(f"loss {loss.item():.4f}")
