import numpy as np
import torch
from sklearn.preprocessing import LabelEncoder
from torch import nn

rng = np.random.default_rng(0)
species = np.array(["ash", "beech", "elm", "oak", "pine"])
centers = rng.normal(size=(5, 8)) * 3


def trees(count, kinds):
    names = rng.choice(kinds, count)
    return centers[np.searchsorted(species, names)] + rng.normal(size=(count, 8)), names


torch.manual_seed(0)
train_x, train_names = trees(400, species)
test_x, test_names = trees(100, ["ash", "elm", "oak", "pine"])
encoder = LabelEncoder()
train_y = torch.tensor(encoder.fit_transform(train_names))
test_y = torch.tensor(encoder.fit_transform(test_names))  # expect: DAT075
train_x, test_x = torch.tensor(train_x).float(), torch.tensor(test_x).float()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 5))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(60):
    loss = nn.functional.cross_entropy(model(train_x), train_y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    print(f"train loss {loss.item():.3f} test accuracy {(model(test_x).argmax(1) == test_y).float().mean():.3f}")
