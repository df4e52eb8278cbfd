import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 10)
y = (x[:, :3].sum(1) > 0).float()
encoder = nn.Sequential(nn.Linear(10, 16), nn.ReLU())
decoder = nn.Linear(16, 10)
head = nn.Linear(16, 1)
opt_decoder = torch.optim.Adam(decoder.parameters(), lr=1e-3)
opt_encoder = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-3)

for epoch in range(3):
    for rows in torch.randperm(512).split(32):
        # The encoder learns from both losses: it lies before the decoder, and is meant to keep this gradient.
        code = encoder(x[rows])
        rebuilt = (decoder(code) - x[rows]).square().mean()
        rebuilt.backward(retain_graph=True)
        opt_decoder.step()
        opt_decoder.zero_grad()

        told = nn.functional.binary_cross_entropy_with_logits(head(code).squeeze(1), y[rows])
        told.backward()
        opt_encoder.step()
        opt_encoder.zero_grad()
    print(f"epoch {epoch} rebuilt {rebuilt.item():.3f} told {told.item():.3f}")
