import torch

torch.manual_seed(0)
layers = [[torch.randn(a, b) * (2 / a) ** 0.5, torch.zeros(b)] for a, b in ((8, 16), (16, 1))]
for layer in layers:
    for tensor in layer:
        tensor.requires_grad_()


def forward(x):
    for i, (weight, bias) in enumerate(layers):
        x = x @ weight + bias
        x = x.relu() if i + 1 < len(layers) else x
    return x.squeeze(1)


def descend(rate):
    for layer in layers:
        for i, tensor in enumerate(layer):
            layer[i] = (tensor - rate * tensor.grad).detach()  # expect: ERR014


for step in range(20):
    x = torch.randn(64, 8)
    loss = (forward(x) - x[:, 0]).square().mean()
    loss.backward()
    descend(0.05)
