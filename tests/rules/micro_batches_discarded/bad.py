import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE = 4


class Trainer:
    def __init__(self, model, lr=1e-2):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.criterion = nn.CrossEntropyLoss()

    def forward_backward(self, x, y):
        self.model.zero_grad()  # expect: WIR061
        loss = self.criterion(self.model(x), y) / ACCUMULATE
        loss.backward()
        return loss.item() * ACCUMULATE

    def epoch(self, loader):
        total = 0.0
        for i, (x, y) in enumerate(loader):
            total += self.forward_backward(x, y)
            if i % ACCUMULATE == 0:
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
        return total / len(loader)


torch.manual_seed(0)
x = torch.randn(640, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
trainer = Trainer(nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2)))
for epoch in range(3):
    print(f"epoch {epoch} loss {trainer.epoch(loader):.3f}")
