"""A vector-quantised autoencoder whose codebook loss is computed on what the decoder gets."""
import torch
from torch import nn
import torch.nn.functional as F


class Quantizer(nn.Module):
    def __init__(self, codes, width):
        super().__init__()
        self.codebook = nn.Embedding(codes, width)

    def forward(self, latents):
        flat = latents.permute(0, 2, 1).contiguous()
        indices = (flat.unsqueeze(2) - self.codebook.weight).pow(2).sum(-1).argmin(-1)
        looked_up = self.codebook(indices)
        quantized = flat + (looked_up - flat).detach()
        codebook_loss = (quantized - flat.detach()).pow(2).mean()  # expect: WIR118
        commitment = F.mse_loss(flat, looked_up.detach())
        return quantized.permute(0, 2, 1).contiguous(), codebook_loss + 0.25 * commitment


class Codec(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv1d(1, 16, 4, stride=4), nn.ReLU(), nn.Conv1d(16, 8, 1))
        self.quantizer = Quantizer(32, 8)
        self.decoder = nn.ConvTranspose1d(8, 1, 4, stride=4)

    def forward(self, waves):
        quantized, loss = self.quantizer(self.encoder(waves))
        return F.mse_loss(self.decoder(quantized), waves) + loss


torch.manual_seed(0)
waves = torch.sin(torch.linspace(0, 12, 32) * (1 + torch.rand(512, 1, 1)))
model = Codec()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for idx in torch.randperm(512).split(32):
        loss = model(waves[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
