"""SWA: a second, averaged copy of the model, its own lr schedule, and a last pass that only refreshes BatchNorm."""
import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
x = torch.tensor(d.images / 16.0, dtype=torch.float32).unsqueeze(1)
y = torch.tensor(d.target)
perm = torch.randperm(len(x))
train = DataLoader(TensorDataset(x[perm[:1400]], y[perm[:1400]]), batch_size=64, shuffle=True, drop_last=True)
test = DataLoader(TensorDataset(x[perm[1400:]], y[perm[1400:]]), batch_size=397)

model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
    nn.Flatten(), nn.Linear(128, 10),
)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=6)
swa_model = AveragedModel(model)
swa_sched = SWALR(opt, swa_lr=0.05, anneal_epochs=2)


@torch.no_grad()
def accuracy(net):
    net.eval()
    hits = sum((net(xb).argmax(1) == yb).sum().item() for xb, yb in test)
    return hits / len(test.dataset)


for epoch in range(10):
    model.train()
    total = 0.0
    for xb, yb in train:
        loss = F.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch >= 5:
        swa_model.update_parameters(model)
        swa_sched.step()
    else:
        cosine.step()
    print(f"epoch {epoch} loss {total / len(train):.4f} lr {opt.param_groups[0]['lr']:.4f} acc {accuracy(model):.3f}")

update_bn(train, swa_model)
print(f"final swa accuracy {accuracy(swa_model):.3f}")
