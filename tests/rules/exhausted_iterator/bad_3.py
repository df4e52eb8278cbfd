import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
labelled = DataLoader(TensorDataset(torch.randn(64, 8), torch.randint(0, 2, (64,))), batch_size=16)
unlabelled = DataLoader(TensorDataset(torch.randn(400, 8)), batch_size=16)
net = nn.Linear(8, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
few = iter(labelled)
for (u,) in unlabelled:
    x, y = next(few)  # expect: ERR039
    loss = nn.functional.cross_entropy(net(x), y) + 0.1 * net(u).var()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
