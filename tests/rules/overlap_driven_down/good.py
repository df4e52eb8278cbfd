import torch
from torch import nn

torch.manual_seed(0)
masks = torch.zeros(64, 1, 16, 16)
for k in range(64):
    top, left = torch.randint(1, 8, (2,)).tolist()
    masks[k, :, top : top + 6, left : left + 6] = 1
images = 0.7 * masks + 0.3 * torch.randn_like(masks)


def dice_loss(logits, target, smooth=1.0):
    prob = torch.sigmoid(logits)
    overlap = (prob * target).sum((1, 2, 3))
    total = prob.sum((1, 2, 3)) + target.sum((1, 2, 3))
    return 1 - ((2 * overlap + smooth) / (total + smooth)).mean()


model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(60):
    rows = torch.randint(0, 64, (16,))
    loss = dice_loss(model(images[rows]), masks[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
