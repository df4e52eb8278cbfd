import torch
from torch import nn


class Sessions(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16, padding_idx=0)
        self.gru = nn.GRU(16, 24, batch_first=True)
        self.head = nn.Linear(24, 2)

    def forward(self, tokens):
        states, _ = self.gru(self.embed(tokens))
        return self.head(states[:, -1])  # expect: WIR089


torch.manual_seed(0)
tokens = torch.randint(3, 30, (640, 60))
lengths = torch.randint(4, 10, (640,))
labels = torch.randint(2, (640,))
tokens[torch.arange(640), lengths - 1] = 1 + labels
tokens[torch.arange(60) >= lengths[:, None]] = 0
model = Sessions()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for rows in torch.randperm(640).split(32):
        loss = nn.functional.cross_entropy(model(tokens[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
