import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def read_log(n=1000):
    rng = np.random.default_rng(9)
    df = pd.DataFrame(rng.normal(size=(n, 5)), columns=["ax", "ay", "az", "gx", "gy"])
    df["moving"] = ((df.ax.abs() + df.gy.abs()) > 1.4).astype(int)
    df["quality"] = rng.choice(["ok", "dropout"], n, p=[0.94, 0.06])
    return df


class Motion(Dataset):
    cols = ["ax", "ay", "az", "gx", "gy"]

    def __init__(self, df):
        self.df = df[df["quality"] == "ok"]

    def __len__(self):
        return len(self.df)

    def __getitem__(self, idx):
        row = self.df.loc[idx]
        feats = torch.tensor(row[self.cols].to_numpy("float32"))
        return feats, int(row["moving"])


def evaluate(net, loader):
    net.eval()
    with torch.no_grad():
        hits = [(net(x).argmax(1) == y).float().mean() for x, y in loader]
    return torch.stack(hits).mean().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    motion = Motion(read_log())
    loader = DataLoader(motion, batch_size=50, shuffle=False, num_workers=2)
    net = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 2))
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(3):
        net.train()
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print("epoch", epoch, "loss", loss.item(), "acc", evaluate(net, loader))
