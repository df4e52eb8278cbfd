"""A small image network in the style of timm's train.py: the head is reset after the optimizer was built."""
import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
images = torch.randn(256, 3, 8, 8)
labels = torch.randint(0, 4, (256,))
images[torch.arange(256), labels % 3, :4] += 2.0 + labels[:, None, None] // 3
loader_train = DataLoader(TensorDataset(images[:192], labels[:192]), batch_size=32, shuffle=True, drop_last=True)
loader_eval = DataLoader(TensorDataset(images[192:], labels[192:]), batch_size=32)


class Bottleneck(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)

    def forward(self, x):
        return F.relu(x + self.bn(self.conv(x)))


class ModelEma:
    def __init__(self, model, decay=0.9):
        self.module, self.decay = copy.deepcopy(model).eval(), decay

    @torch.no_grad()
    def update(self, model):
        for kept, new in zip(self.module.state_dict().values(), model.state_dict().values()):
            kept.copy_(self.decay * kept + (1 - self.decay) * new if kept.is_floating_point() else new)


def mixup(x, target, classes=4):
    lam = torch.distributions.Beta(0.4, 0.4).sample().item()
    smooth = F.one_hot(target, classes) * 0.9 + 0.1 / classes
    return lam * x + (1 - lam) * x.flip(0), lam * smooth + (1 - lam) * smooth.flip(0)


def train_one_epoch(model, loader, optimizer, scheduler, ema):
    model.train()
    for x, target in loader:
        x, soft = mixup(x, target)
        loss = torch.sum(-soft * F.log_softmax(model(x), dim=-1), dim=-1).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        scheduler.step()
        ema.update(model)


def validate(model, loader, loss_fn):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for x, target in loader:
            total += loss_fn(model(x), target).item() * len(x)
    return total / len(loader.dataset)


model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), Bottleneck(16), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                      nn.Dropout(0.1), nn.Linear(16, 4))
decay = [p for p in model.parameters() if p.ndim > 1]
rest = [p for p in model.parameters() if p.ndim <= 1]
optimizer = torch.optim.SGD([{"params": decay, "weight_decay": 1e-4}, {"params": rest}], lr=0.1, momentum=0.9, nesterov=True)
model[5] = nn.Linear(16, 4)  # expect: WIR004
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=5 * len(loader_train))
ema = ModelEma(model)
for epoch in range(5):
    train_one_epoch(model, loader_train, optimizer, scheduler, ema)
    validate(model, loader_eval, nn.CrossEntropyLoss())
