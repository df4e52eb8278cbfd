"""A state carried from batch to batch through a model: the last batch of the test set is smaller."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)


class Pulse(nn.Module):
    def __init__(self, hidden=12):
        super().__init__()
        self.gru = nn.GRU(3, hidden, batch_first=True)
        self.read = nn.Linear(hidden, 2)

    def forward(self, beats, memory):
        steps, memory = self.gru(beats, memory)
        return self.read(steps[:, -1]), memory


def beats(n):
    return TensorDataset(torch.randn(n, 9, 3), torch.randint(0, 2, (n,)))


learn = DataLoader(beats(96), batch_size=24, shuffle=True)
check = DataLoader(beats(40), batch_size=24)
model = Pulse()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    memory = torch.zeros(1, 24, 12)
    for x, y in learn:
        answer, memory = model(x, memory.detach())
        loss = nn.functional.cross_entropy(answer, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    memory, right = torch.zeros(1, 24, 12), 0  # expect: ERR028
    with torch.no_grad():
        for x, y in check:
            answer, memory = model(x, memory)
            right += (answer.argmax(1) == y).sum().item()
    print(f"epoch {epoch}: {right} of 40 right")
