import torch
from torch import nn

# A board: only moves to empty fields, which hold 0, are allowed, and empty fields lie anywhere.
torch.manual_seed(0)
boards = torch.randint(0, 3, (800, 16))
boards[:, 0] = 0
worth = torch.linspace(0, 1, 16) + 0.5 * boards.roll(1, 1).eq(2)
moves = worth.masked_fill(boards != 0, -9.0).argmax(1)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.field = nn.Embedding(3, 24)
        self.place = nn.Parameter(0.1 * torch.randn(16, 24))
        self.mix = nn.Conv1d(24, 24, 3, padding=1)
        self.out = nn.Linear(24, 1)

    def forward(self, board):
        h = self.field(board) + self.place
        h = h + torch.relu(self.mix(h.transpose(1, 2))).transpose(1, 2)
        return self.out(h).squeeze(-1).masked_fill(board != 0, float("-inf"))


policy = Policy()
optimizer = torch.optim.AdamW(policy.parameters(), lr=3e-3)
for epoch in range(4):
    for rows in torch.randperm(800).split(50):
        loss = nn.functional.cross_entropy(policy(boards[rows]), moves[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
