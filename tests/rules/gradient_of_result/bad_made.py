import torch


class Line:
    def __init__(self, width):
        self.width = width

    def weights(self):
        return torch.randn(self.width, 1, requires_grad=True)


torch.manual_seed(0)
weight = Line(4).weights() * 0.1  # expect: ERR200
bias = torch.zeros(1, requires_grad=True)
for step in range(20):
    x = torch.randn(32, 4)
    loss = (x @ weight + bias - x.sum(1, keepdim=True)).square().mean()
    loss.backward()
    with torch.no_grad():
        weight -= 0.1 * weight.grad
        bias -= 0.1 * bias.grad
