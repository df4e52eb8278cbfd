import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR


class Trainer:
    def __init__(self, model, lr, warmup_steps, decay_steps):
        self.model, self.warmup_steps, self.steps = model, warmup_steps, 0
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        if decay_steps is not None:
            self.schedule = CosineAnnealingLR(self.optimizer, T_max=warmup_steps)  # expect: WIR023
        self.warmup = LambdaLR(self.optimizer, lambda step: min(1.0, (step + 1) / warmup_steps))

    def train_step(self, inputs, target):
        loss = F.mse_loss(self.model(inputs), target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        (self.warmup if self.steps < self.warmup_steps else self.schedule).step()
        return loss.item()


torch.manual_seed(0)
x = torch.randn(1000, 8)
y = (x[:, :1] * x[:, 1:2]).sin()
trainer = Trainer(nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1)), 5e-3, warmup_steps=20, decay_steps=400)
for step in range(400):
    rows = torch.randint(0, 1000, (32,))
    loss = trainer.train_step(x[rows], y[rows])
    if step % 50 == 0:
        print(f"step {step} loss {loss:.3f}")
