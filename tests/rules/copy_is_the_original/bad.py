"""Q-learning on a ring, with a target network that should stand still between two copies."""

import torch
from torch import nn


class Agent:
    def __init__(self, states=6, actions=2):
        self.online = nn.Sequential(nn.Linear(states, 32), nn.ReLU(), nn.Linear(32, actions))
        self.target = self.online  # expect: WIR063
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)
        self.updates = 0

    def learn(self, state, action, reward, after, gamma=0.9):
        value = self.online(state).gather(1, action[:, None]).squeeze(1)
        with torch.no_grad():
            goal = reward + gamma * self.target(after).max(1).values
        loss = nn.functional.smooth_l1_loss(value, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % 20 == 0:
            self.target.load_state_dict(self.online.state_dict())
        return loss.item()


torch.manual_seed(0)
agent = Agent()
states = torch.eye(6)
for step in range(100):
    at = torch.randint(6, (32,))
    action = torch.randint(2, (32,))
    after = (at + 2 * action - 1) % 6
    loss = agent.learn(states[at], action, (after == 0).float(), states[after])
    if step % 25 == 0:
        print(f"step {step} loss {loss:.3f}")
