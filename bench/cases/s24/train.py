import logging
import torch
import torch.nn.functional as F
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("run")


class Experiment:
    def __init__(self, seed=0):
        torch.manual_seed(seed)
        self.net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
        self.optim = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)
        self.plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optim, factor=0.2, patience=1)
        self.x, self.y = self.rings(1500)
        self.xv, self.yv = self.rings(500)

    @staticmethod
    def rings(n):
        x = torch.rand(n, 2) * 6 - 3
        return x, ((x.norm(dim=1) * 2.0).sin() > 0).long()

    def train_epoch(self):
        self.net.train()
        for idx in torch.randperm(len(self.x)).split(50):
            self.optim.zero_grad()
            loss = F.cross_entropy(self.net(self.x[idx]), self.y[idx])
            loss.backward()
            self.optim.step()
        return loss.item()

    @torch.no_grad()
    def validate(self):
        self.net.eval()
        return (self.net(self.xv).argmax(1) == self.yv).float().mean().item()

    def run(self, epochs=30):
        for epoch in range(epochs):
            loss = self.train_epoch()
            val_acc = self.validate()
            self.plateau.step(val_acc)
            if epoch % 5 == 4:
                log.info("epoch %2d loss %.4f val accuracy %.3f", epoch, loss, val_acc)
        print(f"final val accuracy {self.validate():.3f}")


Experiment().run()
