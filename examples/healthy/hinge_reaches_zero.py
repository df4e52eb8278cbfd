"""Large-margin classifier on separable blobs: the hinge loss is exactly 0 for the last epochs, gradients vanish too."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(3)
centre = torch.tensor([[3.0, 3.0, 0.0], [-3.0, -3.0, 0.0]])
label = torch.randint(0, 2, (1200,))
x = centre[label] + 0.4 * torch.randn(1200, 3)
sign = label.float() * 2 - 1
data = TensorDataset(x, sign)
train_set, test_set = random_split(data, [1000, 200])
train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
test_loader = DataLoader(test_set, batch_size=200)

model = nn.Linear(3, 1)
nn.init.zeros_(model.weight)  # convex problem: zero is a fine start
nn.init.zeros_(model.bias)
opt = torch.optim.SGD(model.parameters(), lr=0.02)
curve = []
for epoch in range(40):
    total = 0.0
    for xb, sb in train_loader:
        margin = sb * model(xb).squeeze(1)
        loss = (1 - margin).clamp(min=0).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(xb)
    curve.append(total / len(train_set))
    if epoch % 8 == 0:
        print(f"epoch {epoch} hinge {curve[-1]:.6f}")

with torch.no_grad():
    hits = sum(((model(xb).squeeze(1) > 0) == (sb > 0)).sum().item() for xb, sb in test_loader)
print(f"first hinge {curve[0]:.4f} final hinge {curve[-1]:.1e} test accuracy {hits / len(test_set):.3f}")
