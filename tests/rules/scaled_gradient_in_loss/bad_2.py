"""Forces as derivatives of an energy, fitted under a scaler: the derivatives are those of the scaled energy."""

import torch
from torch import nn


class Potential(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, atoms):
        return self.net((atoms[:, None] - atoms).square().sum(-1, keepdim=True)).sum()


class Fitting:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.amp = torch.amp.GradScaler("cpu", init_scale=128.0)

    def loss(self, atoms, forces):
        atoms = atoms.clone().requires_grad_(True)
        energy = self.amp.scale(self.model(atoms))
        (slope,) = torch.autograd.grad(energy, (atoms,), create_graph=True)  # expect: WIR171
        return nn.functional.mse_loss(-slope, forces)

    def step(self, atoms, forces):
        self.optimizer.zero_grad()
        loss = self.loss(atoms, forces)
        self.amp.scale(loss).backward()
        self.amp.step(self.optimizer)
        self.amp.update()
        return loss.item()


torch.manual_seed(0)
fitting = Fitting(Potential())
for step in range(60):
    atoms = torch.randn(8, 3)
    loss = fitting.step(atoms, -0.5 * atoms)
    if step % 15 == 0:
        print(f"step {step} loss {loss:.3f}")
