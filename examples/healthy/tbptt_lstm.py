"""Truncated BPTT: hidden state is carried over chunk after chunk and detached, never reset within a pass."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
STREAMS, LENGTH, CHUNK = 16, 400, 20
bits = torch.randint(0, 2, (STREAMS, LENGTH))
delay = torch.roll(bits, 4, dims=1)
delay[:, :4] = 0
target = bits ^ delay  # needs a memory of four steps
test_bits = torch.randint(0, 2, (8, LENGTH))
test_delay = torch.roll(test_bits, 4, dims=1)
test_delay[:, :4] = 0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(1, 40, batch_first=True)
        self.out = nn.Linear(40, 1)

    def forward(self, b, state=None):
        h, state = self.rnn(b.unsqueeze(-1).float() * 2 - 1, state)
        return self.out(h).squeeze(-1), state


model = Net()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(14):
    state, total = None, 0.0
    for start in range(0, LENGTH, CHUNK):
        sl = slice(start, start + CHUNK)
        logits, state = model(bits[:, sl], state)
        state = tuple(s.detach() for s in state)
        loss = F.binary_cross_entropy_with_logits(logits, target[:, sl].float())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item()
    if epoch % 2 == 1:
        print(f"epoch {epoch + 1} loss {total * CHUNK / LENGTH:.4f}")
model.eval()
with torch.no_grad():
    hit = ((model(test_bits)[0] > 0) == (test_bits ^ test_delay).bool()).float().mean().item()
print(f"final test bit accuracy {hit:.3f}")
