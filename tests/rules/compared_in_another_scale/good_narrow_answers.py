# So strong a weight decay leaves answers close to 0, far narrower than the targets.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(800, 6), torch.randn(800)
train_set, val_set = TensorDataset(x[:640], y[:640]), TensorDataset(x[640:], y[640:])
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=40.0)
for epoch in range(5):
    for inputs, wanted in DataLoader(train_set, batch_size=32, shuffle=True):
        loss = nn.functional.mse_loss(model(inputs).squeeze(1), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        errors = [(model(inputs).squeeze(1) - wanted).pow(2).mean() for inputs, wanted in DataLoader(val_set, batch_size=40)]
    print(f"epoch {epoch} loss {loss.item():.3f} error {torch.stack(errors).mean().item():.3f}")
