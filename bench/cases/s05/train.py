import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from model import TinyViT, param_groups


def blobs(n, seed):
    """16x16 images, the class is the quadrant in which the bright blob lies"""
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (n,), generator=g)
    cy = (y // 2) * 2 + torch.randint(0, 2, (n,), generator=g)
    cx = (y % 2) * 2 + torch.randint(0, 2, (n,), generator=g)
    patches = 0.3 * torch.randn(n, 16, 16, generator=g)
    patches[torch.arange(n), cy * 4 + cx] += 1.5
    return TensorDataset(patches, y)


torch.manual_seed(0)
train_loader = DataLoader(blobs(1600, 1), batch_size=64, shuffle=True)
val_x, val_y = blobs(500, 2).tensors
model = TinyViT()
print("parameters:", sum(p.numel() for p in model.parameters()))
optimizer = torch.optim.AdamW(param_groups(model, 0.05), lr=3e-3)
for epoch in range(10):
    model.train()
    for x, y in train_loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        acc = (model(val_x).argmax(1) == val_y).float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} val acc {acc:.3f}")
