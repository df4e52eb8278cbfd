"""A small U-Net in float16 with a gradient scaler."""

import torch
from torch import nn


def block(width: int, out: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(width, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU(inplace=True),
        nn.Conv2d(out, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU(inplace=True),
    )  # fmt: skip


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down1, self.down2, self.middle = block(3, 64), block(64, 128), block(128, 256)
        self.up2, self.up1 = nn.ConvTranspose2d(256, 128, 2, stride=2), nn.ConvTranspose2d(128, 64, 2, stride=2)
        self.join2, self.join1 = block(256, 128), block(128, 64)
        self.head = nn.Conv2d(64, 5, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = self.down1(x)
        b = self.down2(nn.functional.max_pool2d(a, 2))
        c = self.middle(nn.functional.max_pool2d(b, 2))
        b = self.join2(torch.cat([self.up2(c), b], 1))
        a = self.join1(torch.cat([self.up1(b), a], 1))
        return self.head(a)


device = "cuda"
model = UNet().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scaler = torch.amp.GradScaler("cuda")
for step in range(5):
    images, masks = torch.randn(8, 3, 256, 256).to(device), torch.randint(0, 5, (8, 256, 256)).to(device)
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = nn.functional.cross_entropy(model(images), masks)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    if not torch.isfinite(loss):
        raise SystemExit("the loss is not finite")
    print(step, loss.item(), scaler.get_scale())
