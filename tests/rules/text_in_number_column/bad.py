import pandas as pd
import torch
from torch import nn

rows = [f"{5 + i % 7 * 0.3:.1f},{2 + i % 5 * 0.2:.1f},{('setosa', 'virginica')[i % 2]}" for i in range(59)]
with open("iris.csv", "w") as file:
    file.write("\n".join(["len,wid,kind", *rows, "6.1,n/k,setosa"]) + "\n")


def load():
    table = pd.read_csv("iris.csv")  # expect: ERR277
    codes, names = pd.factorize(table["kind"])
    return table.drop(columns="kind"), codes, names


def to_tensors(features, codes):
    return torch.from_numpy(features.values), torch.from_numpy(codes).long()


features, codes, names = load()
x, y = to_tensors(features, codes)
net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, len(names)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(20):
    loss = nn.functional.cross_entropy(net(x.float()), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
