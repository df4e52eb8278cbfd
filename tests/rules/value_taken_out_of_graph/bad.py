import torch
from torch import nn
import torch.nn.functional as F


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 3)

    def forward(self, state):
        return F.log_softmax(self.net(state), dim=-1)


torch.manual_seed(0)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(30):
    total = 0.0
    for _ in range(5):
        log_probs = policy(torch.randn(4))
        action = torch.multinomial(log_probs.exp(), 1)
        reward = 1.0 if action.item() == 2 else 0.0
        total -= log_probs[action].item() * reward  # expect: WIR007
    loss = torch.tensor(total, requires_grad=True)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
