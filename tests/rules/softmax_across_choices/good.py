import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 4), nn.Softmax(dim=-1))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)

for update in range(12):
    states, actions, rewards = [], [], []
    for _ in range(20):
        state = torch.rand(2) * 2 - 1
        with torch.no_grad():
            action = int(torch.multinomial(policy(state), 1))
        quadrant = 2 * int(state[0] > 0) + int(state[1] > 0)
        states.append(state)
        actions.append(action)
        rewards.append(1.0 if action == quadrant else -0.3)
    reward = torch.tensor(rewards)
    chosen = policy(torch.stack(states)).gather(1, torch.tensor(actions)[:, None]).squeeze(1)
    loss = -(torch.log(chosen + 1e-8) * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"update {update} loss {loss.item():.3f} reward {reward.mean().item():.2f}")
