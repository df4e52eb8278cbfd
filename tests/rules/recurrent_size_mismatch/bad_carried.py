"""The state is made for a whole batch and carried on; the last batch of the second loader is smaller."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH_SIZE = 20


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.LSTM(3, 8, batch_first=True)
        self.head = nn.Linear(8, 1)

    def forward(self, x, state):
        steps, state = self.read(x, state)
        return self.head(steps[:, -1]), state

    def begin(self, rows):
        return torch.zeros(1, rows, 8), torch.zeros(1, rows, 8)


def rows(count):
    return DataLoader(TensorDataset(torch.randn(count, 6, 3), torch.randn(count, 1)), batch_size=BATCH_SIZE)


def epoch(model, loader, optimizer=None):
    state = model.begin(BATCH_SIZE)  # expect: ERR028
    for x, y in loader:
        state = tuple(part.detach() for part in state)
        answer, state = model(x, state)
        loss = nn.functional.mse_loss(answer, y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


torch.manual_seed(0)
train, test = rows(200), rows(50)
model = Reader()
optimizer = torch.optim.Adam(model.parameters())
print(f"train {epoch(model, train, optimizer):.3f}")
print(f"test {epoch(model, test):.3f}")
