import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad * weight, (grad * x).sum(0)


torch.manual_seed(0)
weight = torch.ones(5, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(5):
    x = torch.randn(8, 5)
    loss = (Scale.apply(x, weight) - 2 * x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
