import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.gru = nn.GRU(8, 16, batch_first=True, bidirectional=True)
        self.head = nn.Linear(32, 3)

    def forward(self, words):
        _, state = self.gru(self.embed(words))
        return self.head(state.view(len(words), -1))  # expect: WIR070


torch.manual_seed(0)
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    words = torch.randint(0, 20, (24, 6))
    loss = nn.functional.cross_entropy(model(words), words[:, 0] % 3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
