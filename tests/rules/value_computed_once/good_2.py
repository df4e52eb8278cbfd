import torch
from torch import nn

torch.manual_seed(0)
real = torch.randn(600, 2) * 0.3 + torch.tensor([2.0, -1.0])
maker = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
maker_optimizer = torch.optim.Adam(maker.parameters(), lr=2e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=2e-3)
wrong, right = torch.zeros(60, 1), torch.ones(60, 1)
bce = nn.functional.binary_cross_entropy_with_logits
for epoch in range(4):
    for rows in torch.randperm(600).split(60):
        fake = maker(torch.randn(60, 4))
        for _ in range(3):
            # The same pictures, with their graph, serve three updates of the critic and then the maker.
            critic_loss = bce(critic(real[rows]), right) + bce(critic(fake), wrong)
            critic_optimizer.zero_grad()
            critic_loss.backward(retain_graph=True)
            critic_optimizer.step()
        maker_loss = bce(critic(fake), right)
        maker_optimizer.zero_grad()
        maker_loss.backward()
        maker_optimizer.step()
    print(f"epoch {epoch} critic {critic_loss.item():.4f} maker {maker_loss.item():.4f}")
