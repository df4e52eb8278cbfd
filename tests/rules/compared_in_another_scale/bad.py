import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
x = rng.normal(size=(400, 6)).astype(np.float32)
weight = (70 + 12 * x[:, 0] - 5 * x[:, 1] + rng.normal(0, 2, 400)).astype(np.float32)
mean, std = weight[:320].mean(), weight[:320].std()
train_set = TensorDataset(torch.from_numpy(x[:320]), torch.from_numpy((weight[:320] - mean) / std))
val_set = TensorDataset(torch.from_numpy(x[320:]), torch.from_numpy(weight[320:]))
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    model.train()
    for inputs, wanted in DataLoader(train_set, batch_size=32, shuffle=True):
        loss = nn.functional.mse_loss(model(inputs).squeeze(1), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    errors = []
    with torch.no_grad():
        for inputs, wanted in DataLoader(val_set, batch_size=40):
            answers = model(inputs).squeeze(1)
            errors.append((answers - wanted).abs().mean().item())  # expect: DAT220
    print(f"epoch {epoch} loss {loss.item():.3f} error {np.mean(errors):.2f} kg")
