import torch
from torch import nn


def main():
    torch.manual_seed(0)
    x = torch.randn(800, 32)
    y = x[:, :1].sin()
    model = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(6):
        history = []
        for rows in torch.randperm(800).split(40):
            loss = nn.functional.mse_loss(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history.append(loss)
        print(f"epoch {epoch} loss {torch.stack(history).mean().item():.4f}")


main()
