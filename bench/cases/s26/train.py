import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.amp import GradScaler, autocast


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten())
        self.cls_head = nn.Linear(16 * 16, 2)
        self.box_head = nn.Sequential(nn.Linear(16 * 16, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, img):
        f = self.backbone(img)
        return self.cls_head(f), self.box_head(f)


def scenes(n, seed, size=16):
    g = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, 2, (n,), generator=g)
    center = torch.randint(2, size - 2, (n, 2), generator=g)
    img = 0.2 * torch.randn(n, size, size, generator=g)
    for k in range(n):
        r, c = center[k].tolist()
        if kind[k]:
            img[k, r - 2:r + 3, c - 2:c + 3] += 1.0
        else:
            img[k, r, c - 2:c + 3] += 1.0
            img[k, r - 2:r + 3, c] += 1.0
    return img.unsqueeze(1), kind, center.float() / size


torch.manual_seed(0)
img, kind, center = scenes(600, 1)
img_v, kind_v, center_v = scenes(300, 2)
model = Detector()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scaler = GradScaler("cpu", init_scale=2.0 ** 14)
for epoch in range(8):
    for idx in torch.randperm(len(img)).split(40):
        optimizer.zero_grad(set_to_none=True)
        with autocast("cpu", dtype=torch.float16):
            logits, box = model(img[idx])
        cls_loss = F.cross_entropy(logits.float(), kind[idx])
        box_loss = F.smooth_l1_loss(box.float(), center[idx])
        scaler.scale(cls_loss).backward(retain_graph=True)
        box_loss.backward()
        scaler.step(optimizer)
        scaler.update()
    with torch.no_grad():
        logits, box = model(img_v)
    acc = (logits.argmax(1) == kind_v).float().mean().item()
    err = (box - center_v).abs().mean().item() * 16
    print(f"epoch {epoch} cls loss {cls_loss.item():.4f} box loss {box_loss.item():.4f} acc {acc:.3f} centre error {err:.2f} px")
