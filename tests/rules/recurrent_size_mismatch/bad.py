import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(50, 6, 3), torch.randn(50, 1)), batch_size=16)
rnn = nn.GRU(3, 8, batch_first=True)
head = nn.Linear(8, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
start = torch.zeros(1, 16, 8)  # expect: ERR028
for x, y in loader:
    steps, last = rnn(x, start)
    loss = nn.functional.mse_loss(head(last[0]), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
