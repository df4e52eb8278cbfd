import torch
import torch.nn as nn
from features import load_tables, build_matrix


def batches(x, y, size):
    order = torch.randperm(len(x))
    for start in range(0, len(x), size):
        take = order[start:start + size]
        yield x[take], y[take]


def main():
    torch.manual_seed(0)
    sales, stores = load_tables()
    x, y, names = build_matrix(sales, stores)
    print("features:", names)
    net = nn.Sequential(nn.Linear(x.shape[1], 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-4)
    for epoch in range(4):
        total = 0.0
        for xb, yb in batches(x, y, 100):
            opt.zero_grad()
            loss = nn.functional.smooth_l1_loss(net(xb)[:, 0], yb)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            total += loss.item()
        print("epoch", epoch, "loss", total / (len(x) / 100))


if __name__ == "__main__":
    main()
