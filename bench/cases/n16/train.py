import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

INPUTS = ["ph", "oxygen", "temp", "rain"]


class WaterQuality(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        table[INPUTS] = (table[INPUTS] - table[INPUTS].mean()) / table[INPUTS].std()
        table = table.join(pd.get_dummies(table.pop("station"), prefix="st", dtype=float))
        self.y = table.pop("turbidity").to_numpy("float32")
        self.x = table.to_numpy("float32")

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), torch.tensor(self.y[i])


def main():
    torch.manual_seed(4)
    ds = WaterQuality("river.csv")
    loader = DataLoader(ds, batch_size=20, shuffle=True, num_workers=1, persistent_workers=True)
    model = nn.Sequential(nn.Linear(ds.x.shape[1], 24), nn.ReLU(), nn.Linear(24, 1), nn.Flatten(0))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    loss_fn = nn.HuberLoss()
    for epoch in range(4):
        for n, (x, y) in enumerate(loader):
            opt.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            opt.step()
            if n % 5 == 0:
                print(f"epoch {epoch} batch {n:2d} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
