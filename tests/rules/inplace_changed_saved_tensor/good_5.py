"""An actor and a critic share their encoder; the advantage is a number for the actor."""
import torch
from torch import nn

torch.manual_seed(0)


class ActorCritic:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
        self.critic, self.actor = nn.Linear(16, 1), nn.Linear(16, 3)
        shared = [*self.encoder.parameters()]
        self.opt_critic = torch.optim.Adam([*shared, *self.critic.parameters()], lr=1e-3)
        self.opt_actor = torch.optim.Adam(self.actor.parameters(), lr=1e-3)

    def update(self, observations, actions, returns):
        z = self.encoder(observations)
        advantage = returns - self.critic(z).squeeze(-1)
        self.opt_critic.zero_grad()
        advantage.square().mean().backward()
        self.opt_critic.step()

        choice = torch.distributions.Categorical(logits=self.actor(z.detach()))
        self.opt_actor.zero_grad()
        (-choice.log_prob(actions) * advantage.detach()).mean().backward()
        self.opt_actor.step()


agent = ActorCritic()
for _ in range(5):
    agent.update(torch.randn(8, 4), torch.randint(0, 3, (8,)), torch.randn(8))
