"""8504: memory runs out because losses are kept together with the graphs that made them."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=["none", "train", "validation", "total"], default="none")
    fault = parser.parse_args().fault
    torch.manual_seed(0)
    x, y = torch.randn(1200, 64), torch.randn(1200, 1)
    train_loader = DataLoader(TensorDataset(x[:1000], y[:1000]), batch_size=50, shuffle=True)
    valid_loader = DataLoader(TensorDataset(x[1000:], y[1000:]), batch_size=20)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    train_losses, valid_losses, total = [], [], 0.0
    for epoch in range(8):
        for features, target in train_loader:
            loss = nn.functional.mse_loss(model(features), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if fault == "train":
                train_losses.append(loss)
            elif fault == "total":
                total = total + loss
            else:
                train_losses.append(loss.item())
        with torch.set_grad_enabled(fault == "validation"):
            for features, target in valid_loader:
                valid_loss = nn.functional.mse_loss(model(features), target)
                valid_losses.append(valid_loss)
        print(f"epoch {epoch}: loss {loss.item():.4f}, valid {valid_losses[-1].item():.4f}")


if __name__ == "__main__":
    main()
