import torch
from torch import nn

torch.manual_seed(0)
states, following, rewards = torch.randn(600, 4), torch.randn(600, 4), torch.rand(600)
value, target = nn.Linear(4, 2), nn.Linear(4, 2)
optimizer = torch.optim.Adam(value.parameters(), lr=1e-2)
for step in range(120):
    rows = torch.randint(600, (32,))
    with torch.no_grad():
        wanted = rewards[rows] + 0.9 * target(following[rows]).amax(1)
    loss = nn.functional.mse_loss(value(states[rows])[:, 0], wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        target.load_state_dict(target.state_dict())  # expect: WIR033
print(f"loss {loss.item():.3f}")
