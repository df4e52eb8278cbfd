import torch
from torch import nn
import torch.nn.functional as F


class Skipgram(nn.Module):
    def __init__(self, words=50, dim=8):
        super().__init__()
        self.word = nn.Embedding(words, dim)
        self.context = nn.Embedding(words, dim)

    def forward(self, a, b):
        return (self.word(a) * self.context(b)).sum(-1).float()


torch.manual_seed(0)
model = Skipgram()
model = model.to("cpu", torch.bfloat16)  # expect: WIR030
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(60):
    a, b = torch.randint(0, 50, (2, 256))
    label = (a % 5 == b % 5).float()
    loss = F.binary_cross_entropy_with_logits(model(a, b), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.2f}")
