"""Features of a frozen encoder, taken by a callable object that forgets nothing."""

import torch
from torch import nn


class FeatureExtractor:
    def __init__(self, encoder):
        self.encoder = encoder.requires_grad_(False)
        self.outputs = []

    def __call__(self, x):
        found = []
        handle = self.encoder[0].register_forward_hook(lambda module, inputs, output: found.append(output))
        self.encoder(x)
        handle.remove()
        self.outputs.append(found)  # expect: MEM001
        return self.outputs[-1][0]


torch.manual_seed(0)
generator = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 3, padding=1))
features = FeatureExtractor(nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU()))
optimizer = torch.optim.Adam(generator.parameters(), lr=2e-3)
for _ in range(32):
    clean = torch.rand(8, 1, 24, 24)
    made = generator(clean + 0.3 * torch.randn_like(clean))
    loss = (made - clean).abs().mean() + (features(made) - features(clean)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
