import torch
from torch import nn


class Trainer:
    def __init__(self, model, x, y):
        self.model, self.x, self.y = model, x, y
        self.optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

    def fit(self):
        self.model.train()
        for rows in torch.randperm(300).split(30):
            loss = nn.functional.mse_loss(self.model(self.x[rows]), self.y[rows])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        for layer in self.model.modules():
            if isinstance(layer, nn.Dropout):
                layer.p = 0.0  # expect: WIR261
        return nn.functional.mse_loss(self.model(self.x[300:]), self.y[300:]).item()


torch.manual_seed(0)
x = torch.randn(400, 6)
network = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.4), nn.Linear(32, 1))
trainer = Trainer(network, x, x[:, :1] * x[:, 1:2])
for epoch in range(4):
    print(f"epoch {epoch} loss {trainer.fit():.3f} validation {trainer.validate():.3f}")
