import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU())
        self.classes = nn.Linear(32, 3)
        self.box = nn.Linear(32, 4)

    def forward(self, x):
        h = self.body(x)
        return self.classes(h), self.box(h)


model = Detector()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x, boxes = torch.randn(256, 16), torch.rand(256, 4)
labels = x[:, :3].argmax(1)
for epoch in range(10):
    for rows in torch.randperm(256).split(32):
        scores, predicted = model(x[rows])
        loss_cls = F.cross_entropy(scores, labels[rows])
        loss_box = F.smooth_l1_loss(predicted, boxes[rows])
        loss = loss_cls + 5.0 * loss_box
        optimizer.zero_grad()
        loss_cls.backward(retain_graph=True)
        (5.0 * loss_box).backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
