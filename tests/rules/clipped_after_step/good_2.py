import torch
from torch import nn

# Two players: the second one's gradients are clipped after the first one's step, and before its own.
torch.manual_seed(0)
make, judge = nn.Linear(4, 8), nn.Linear(8, 1)
steps_make = torch.optim.SGD(make.parameters(), lr=0.01)
steps_judge = torch.optim.SGD(judge.parameters(), lr=0.01)
for step in range(80):
    real, noise = torch.randn(16, 8) + 1, torch.randn(16, 4)
    steps_make.zero_grad()
    steps_judge.zero_grad()
    score = judge(make(noise))
    (nn.functional.softplus(score).mean() + nn.functional.softplus(-judge(real)).mean()).backward()
    steps_make.step()
    norm = nn.utils.clip_grad_norm_(judge.parameters(), 0.05)
    steps_judge.step()
print(f"norm {norm:.3f}")
