"""Two clinics that both number their patients from 0: the same number is another person."""

import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Slices(Dataset):
    def __init__(self, table, pixels):
        self.table, self.pixels = table.reset_index(drop=True), pixels

    def __len__(self):
        return len(self.table)

    def __getitem__(self, i):
        row = self.table.iloc[i]
        return self.pixels[row["file"]], int(row["ill"])


def scan(people, slices):
    ill = (torch.rand(people) < 0.5).long()
    pixels = torch.randn(people, 1, 24).expand(-1, slices, -1) + 0.3 * torch.randn(people, slices, 24)
    rows = [(p, s, int(ill[p])) for p in range(people) for s in range(slices)]
    table = pd.DataFrame(rows, columns=["patient_id", "slice", "ill"])
    table["file"] = range(len(table))
    return table, pixels.flatten(0, 1)


torch.manual_seed(0)
(train_table, train_pixels), (val_table, val_pixels) = scan(30, 10), scan(20, 6)
order, _ = train_test_split(range(len(train_table)), test_size=0.1, random_state=0)
train_table = train_table.iloc[order]
train_loader = DataLoader(Slices(train_table, train_pixels), batch_size=20, shuffle=True)
val_loader = DataLoader(Slices(val_table, val_pixels), batch_size=60)
model = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for x, ill in train_loader:
        loss = nn.functional.cross_entropy(model(x), ill)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        hits = sum((model(x).argmax(1) == ill).sum().item() for x, ill in val_loader)
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {hits / len(val_table):.2f}")
