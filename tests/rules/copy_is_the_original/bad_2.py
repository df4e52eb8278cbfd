"""Q-learning on a ring whose target network is the network itself; the first copy would come at step 1,000."""

import torch
from torch import nn


class Agent:
    def __init__(self, network):
        self.policy_net = network.to("cpu")
        self.target_net = network.to("cpu").eval()  # expect: WIR063
        self.optimizer = torch.optim.Adam(self.policy_net.parameters(), lr=1e-3)

    def learn(self, state, action, reward, after):
        value = self.policy_net(state).gather(1, action[:, None]).squeeze(1)
        with torch.no_grad():
            best = self.policy_net(after).argmax(1, keepdim=True)
            goal = reward + 0.9 * self.target_net(after).gather(1, best).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
agent = Agent(nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2)))
states = torch.eye(6)
for step in range(60):
    at = torch.randint(6, (32,))
    action = torch.randint(2, (32,))
    after = (at + 2 * action - 1) % 6
    loss = agent.learn(states[at], action, (after == 0).float(), states[after])
    if step % 1000 == 999:
        agent.target_net.load_state_dict(agent.policy_net.state_dict())
