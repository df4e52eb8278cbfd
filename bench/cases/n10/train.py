import torch
import torch.nn as nn


class Echo(nn.Module):
    """ReLU recurrent net whose state is carried from chunk to chunk."""

    def __init__(self, hidden=48):
        super().__init__()
        self.rnn = nn.RNN(2, hidden, nonlinearity="relu", batch_first=True)
        self.read = nn.Linear(hidden, 1)
        for name, p in self.rnn.named_parameters():
            if "weight" in name:
                nn.init.normal_(p, std=0.2)
            else:
                nn.init.zeros_(p)

    def forward(self, x, h=None):
        y, h = self.rnn(x, h)
        return self.read(y).squeeze(-1), h


def signal(n_chunks, batch=16, t=25):
    g = torch.Generator().manual_seed(4)
    phase = torch.rand(batch, 1, generator=g) * 6.28
    for k in range(n_chunks):
        s = torch.arange(k * t, (k + 1) * t + 1) * 0.15 + phase
        wave = torch.stack([torch.sin(s), torch.cos(1.7 * s)], -1)
        yield wave[:, :-1], wave[:, 1:, 0]


torch.manual_seed(9)
net = Echo()
optim = torch.optim.Adam(net.parameters(), lr=1e-4)
for epoch in range(2):
    state = None
    for i, (x, y) in enumerate(signal(60)):
        pred, state = net(x, state)
        state = state.detach()
        loss = ((pred - y) ** 2).mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
        if i % 6 == 0:
            print(f"epoch {epoch} chunk {i:2d} loss {loss.item():.4g} |h| {state.norm().item():.4g}")
