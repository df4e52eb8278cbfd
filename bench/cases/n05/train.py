import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TwoHeads(nn.Module):
    def __init__(self, n_in, n_cls, with_aux=False):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Dropout(0.1))
        self.main_head = nn.Linear(64, n_cls)
        if with_aux:
            self.aux_head = nn.Linear(64, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.main_head(h), h


class Experiment:
    def __init__(self, aux_start=2):
        g = torch.Generator().manual_seed(0)
        x = torch.randn(1600, 16, generator=g)
        y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).long()
        self.loader = DataLoader(TensorDataset(x, y, x[:, 5].abs()), batch_size=64, shuffle=True)
        self.net = TwoHeads(16, 2)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=2e-3)
        self.aux_start = aux_start

    def losses(self, batch, epoch):
        x, y, extra = batch
        logits, h = self.net(x)
        loss = nn.functional.cross_entropy(logits, y)
        if epoch >= self.aux_start:
            loss = loss + 0.3 * nn.functional.mse_loss(self.net.aux_head(h).squeeze(1), extra)
        return loss

    def run(self, epochs=5):
        for epoch in range(epochs):
            for batch in self.loader:
                loss = self.losses(batch, epoch)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            print(f"epoch {epoch} loss {loss.item():.4f}")


torch.manual_seed(0)
Experiment().run()
