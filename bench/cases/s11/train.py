import argparse
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from quant import QuantNet

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=12)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--hidden", type=int, default=24)
args = parser.parse_args()

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X_tr, X_te, y_tr, y_te = train_test_split(X / 8.0 - 1.0, y, test_size=0.25, random_state=0, stratify=y)
X_tr, X_te = torch.tensor(X_tr, dtype=torch.float32), torch.tensor(X_te, dtype=torch.float32)
y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)

net = QuantNet(64, args.hidden, 10)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
for epoch in range(args.epochs):
    losses = []
    for idx in torch.randperm(len(X_tr)).split(32):
        optimizer.zero_grad()
        loss = criterion(net(X_tr[idx]), y_tr[idx])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        acc = (net(X_te).argmax(1) == y_te).float().mean().item()
    print(f"epoch {epoch:2d}  loss {sum(losses) / len(losses):.4f}  test accuracy {acc:.4f}")
