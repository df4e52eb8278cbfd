import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(2, 32)
        self.out = nn.Linear(32, 4)

    def forward(self, state):
        return torch.softmax(self.out(torch.tanh(self.hidden(state))), dim=0)  # expect: LOS074


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for update in range(12):
    states = torch.rand(20, 2) * 2 - 1
    with torch.no_grad():
        actions = torch.stack([Categorical(policy(state)).sample() for state in states])
    wanted = 2 * (states[:, 0] > 0).long() + (states[:, 1] > 0).long()
    reward = (actions == wanted).float()
    loss = -(Categorical(policy(states)).log_prob(actions) * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"update {update} loss {loss.item():.3f} reward {reward.mean().item():.2f}")
