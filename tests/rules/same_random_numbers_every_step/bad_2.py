import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def set_seed(seed):
    torch.manual_seed(seed)


def train_step(model, optimizer, x, y):
    set_seed(1)  # expect: DAT076
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


set_seed(0)
x = torch.randn(320, 4)
y = (x[:, :1] * x[:, 1:2]).tanh() + 0.3 * torch.randn(320, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(5):
    total = sum(train_step(model, optimizer, *batch) for batch in loader)
    print(f"epoch {epoch} loss {total / len(loader):.3f}")
