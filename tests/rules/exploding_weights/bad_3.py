"""A recurrent weight that a few updates made little larger: over the sequence that is enough."""
import torch
from torch import nn


class Next(nn.Module):
    def __init__(self, letters=20, hidden=64):
        super().__init__()
        self.embed = nn.Embedding(letters, hidden)
        self.rnn = nn.RNN(hidden, hidden, nonlinearity="relu", batch_first=True)
        self.out = nn.Linear(hidden, letters)
        nn.init.orthogonal_(self.rnn.weight_hh_l0)

    def forward(self, x):
        return self.out(self.rnn(self.embed(x))[0])


torch.manual_seed(0)
model = Next()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)  # expect: NUM025
for step in range(40):
    text = (torch.randint(0, 20, (16, 1)) + torch.arange(121)) % 20
    logits = model(text[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, 20), text[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.3f}")
