import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(4)
TABLE = torch.randn(128, 5).tolist()
for row in TABLE:
    row[3] = 1.0
TABLE[70][1] = float("inf")
TABLE[71][1] = float("nan")


class Wards(Dataset):
    def __len__(self):
        return len(TABLE)

    def __getitem__(self, i):
        return torch.tensor(TABLE[i]), float(i % 2)  # expect: DAT030


net = nn.Linear(5, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in DataLoader(Wards(), batch_size=64):
    loss = nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y.float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
