import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, latent, hidden, out):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, out))

    def forward(self, z):
        return self.body(z)


class Autoencoder(nn.Module):
    def __init__(self, out=20, hidden=32, latent=4):
        super().__init__()
        self.encoder = nn.Linear(out, latent)
        self.decoder = Decoder(out, hidden, latent)  # expect: ERR002

    def forward(self, x):
        return self.decoder(torch.tanh(self.encoder(x)))


model = Autoencoder()
x = torch.randn(16, 20)
loss = nn.functional.mse_loss(model(x), x)
loss.backward()
