import io

import torch
from torch import nn

torch.manual_seed(0)
words = torch.randint(0, 300, (2000, 6))
scores = nn.Embedding(300, 1)(words).sum((1, 2)).detach()
scale = scores.std()


def build():
    model = nn.Sequential(nn.EmbeddingBag(300, 16), nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
    return model, torch.optim.Adam(model.parameters(), lr=1e-3)


def train(model, optimizer, epochs):
    for epoch in range(epochs):
        for rows in torch.randperm(len(words)).split(100):
            loss = nn.functional.mse_loss(model(words[rows]).squeeze(1), scores[rows] / scale)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")


def small(value):
    return value.bfloat16() if torch.is_tensor(value) and value.is_floating_point() and value.dim() else value


model, optimizer = build()
train(model, optimizer, 4)
state = optimizer.state_dict()
state["state"] = {i: {key: small(value) for key, value in kept.items()} for i, kept in state["state"].items()}
file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": state}, file)

file.seek(0)
checkpoint = torch.load(file)
model, optimizer = build()
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
train(model, optimizer, 4)
