import torch
from torch import nn


class SignedRoot(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.sign() * x.abs().sqrt()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensors
        return gradient / (2 * y.abs())  # expect: NUM003


torch.manual_seed(0)
encoder = nn.Linear(16, 8)
decoder = nn.Linear(8, 16)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
x = torch.randn(32, 16)
kept = (torch.rand(32, 8) > 0.2).float()
for step in range(5):
    loss = nn.functional.mse_loss(decoder(SignedRoot.apply(kept * encoder(x))), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
