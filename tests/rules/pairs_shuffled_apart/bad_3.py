import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)


def shuffled(samples, labels):
    rng.shuffle(samples)  # expect: DAT064
    rng.shuffle(labels)
    return samples, labels


labels = np.arange(600) % 3
samples = rng.normal(size=(600, 6)).astype("float32")
samples[np.arange(600), labels] += 3
samples, labels = shuffled(samples, labels)
train_x, train_y = samples[:500], labels[:500]
model = nn.Linear(6, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    for start in range(0, 500, 50):
        x, y = torch.from_numpy(train_x[start : start + 50]), torch.from_numpy(train_y[start : start + 50])
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
