import torch
from torch import nn
from cells import GatedMemory


def parity_batch(n=64, t=3):
    bits = torch.randint(0, 2, (n, t)).float()
    return bits.unsqueeze(-1) * 2 - 1, (bits.sum(1) % 2).long()


class Reader(nn.Module):
    def __init__(self, size=32):
        super().__init__()
        self.memory = GatedMemory(1, size)
        self.head = nn.Linear(size, 2)

    def forward(self, seq):
        m = seq.new_zeros(seq.shape[0], self.memory.size)
        for t in range(seq.shape[1]):
            m = self.memory(seq[:, t], m)
        return self.head(m)


torch.manual_seed(0)
reader = Reader()
opt = torch.optim.RMSprop(reader.parameters(), lr=2e-3)
for step in range(400):
    seq, target = parity_batch()
    loss = nn.functional.cross_entropy(reader(seq), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(f"step {step} loss {loss.item():.4f}")
