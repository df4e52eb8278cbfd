import torch
import torch.nn as nn


class Tower(nn.Module):
    def __init__(self, widths, act=nn.GELU):
        super().__init__()
        self.act = act()
        self.layers = []  # expect: ERR058
        for a, b in zip(widths[:-1], widths[1:]):
            self.layers.append(nn.Linear(a, b))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = self.act(layer(x))
        return self.layers[-1](x)


def groups(model, wd):
    decay = [p for n, p in model.named_parameters() if p.ndim > 1]
    plain = [p for n, p in model.named_parameters() if p.ndim <= 1]
    return decay + plain


def main():
    torch.manual_seed(0)
    model = Tower([8, 64, 64, 3])
    opt = torch.optim.AdamW(groups(model, 0.01), lr=1e-3, weight_decay=0.01)
    for step in range(30):
        x = torch.randn(32, 8)
        y = x[:, :3].argmax(1)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


main()
