import torch
from torch import nn


class Codebook(nn.Module):
    def __init__(self, codes, size):
        super().__init__()
        self.codes = nn.Embedding(codes, size)
        self.ready = 0  # expect: WIR260

    def begin(self, rows):
        if self.ready:
            return
        self.codes.weight.data.copy_(rows.detach()[torch.randperm(len(rows))[: len(self.codes.weight)]])
        self.ready = 1

    def forward(self, rows):
        self.begin(rows)
        chosen = self.codes(torch.cdist(rows, self.codes.weight).argmin(1))
        return rows + (chosen - rows).detach(), nn.functional.mse_loss(chosen, rows.detach())


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.book, self.up = nn.Linear(12, 4), Codebook(16, 4), nn.Linear(4, 12)

    def forward(self, x):
        code, loss = self.book(self.down(x))
        return self.up(code), loss


def train(model, x, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        for rows in torch.randperm(len(x)).split(64):
            answer, commitment = model(x[rows])
            loss = nn.functional.mse_loss(answer, x[rows]) + commitment
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.4f}")
    return model


torch.manual_seed(0)
x = torch.randn(512, 3) @ torch.randn(3, 12)
first = train(Coder(), x, 6)
second = Coder()
second.load_state_dict(first.state_dict())
train(second, x, 3)
