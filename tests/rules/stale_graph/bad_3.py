import torch
from torch import nn

torch.manual_seed(0)
G, D = nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
bce = nn.BCEWithLogitsLoss()
real = torch.randn(32, 8)
ones, zeros = torch.ones(32, 1), torch.zeros(32, 1)
for step in range(3):
    hidden = G(torch.randn(32, 4))
    fake = torch.tanh(hidden)
    d_loss = bce(D(real), ones) + bce(D(fake), zeros)  # expect: ERR015
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = bce(D(fake), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
