"""Large marks press the gates of an LSTM to their ends, as they are to: it learns to count them all the same."""
import torch
from torch import nn

torch.manual_seed(0)
marks = torch.randint(0, 2, (600, 10, 1)).float() * 60 - 30
y = (marks[:, -1] > 0).float()


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = nn.LSTM(1, 16, batch_first=True)
        self.out = nn.Linear(16, 1)

    def forward(self, marks):
        states, _ = self.memory(marks)
        return self.out(states[:, -1])


model = Counter()
with torch.no_grad():
    model.memory.weight_ih_l0.mul_(20)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for rows in torch.randperm(len(marks)).split(50):
        loss = nn.functional.binary_cross_entropy_with_logits(model(marks[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
