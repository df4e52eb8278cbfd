import torch
from torch import nn
from torch.nn import functional as F


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(20, 48), nn.ReLU())
        self.kind = nn.Linear(48, 4)
        self.box = nn.Linear(48, 8)

    def forward(self, x):
        hidden = self.body(x)
        return self.kind(hidden), self.box(hidden)


def losses(kind, box, label, wanted, inside):
    box = torch.mul(box.data, inside)  # expect: WIR006
    return F.cross_entropy(kind, label), F.smooth_l1_loss(box, wanted * inside)


torch.manual_seed(0)
x = torch.randn(512, 20)
label = (x @ torch.randn(20, 4)).argmax(1)
wanted = x @ torch.randn(20, 8) / 4
inside = (label > 0).float()[:, None].expand(-1, 8)
net = Detector()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(4):
    for rows in torch.randperm(512).split(64):
        of_kind, of_box = losses(*net(x[rows]), label[rows], wanted[rows], inside[rows])
        loss = of_kind + of_box
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} kind {of_kind.item():.3f} box {of_box.item():.3f}")
