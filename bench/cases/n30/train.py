import torch
from torch import nn
from config import PRETRAIN, FINETUNE


class Encoder(nn.Module):
    def __init__(self, n_in, width, depth, n_out):
        super().__init__()
        sizes = [n_in] + [width] * depth
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.head = nn.Linear(width, n_out)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)


def fit(model, x, y, loss_fn, epochs, lr):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        for idx in torch.randperm(len(x)).split(128):
            opt.zero_grad()
            loss = loss_fn(model(x[idx]), y[idx])
            loss.backward()
            opt.step()
    return loss.item()


def pretrain(x):
    model = Encoder(**PRETRAIN["model"])
    print("reconstruction loss %.4f" % fit(model, x, x, nn.functional.mse_loss, PRETRAIN["epochs"], PRETRAIN["lr"]))
    weights = {k: v for k, v in model.state_dict().items() if not k.startswith("head")}
    torch.save(weights, "encoder.pt")


def finetune(x, y):
    model = Encoder(**FINETUNE["model"])
    missing, unexpected = model.load_state_dict(torch.load("encoder.pt"), strict=False)
    print("missing", missing, "unexpected", unexpected)
    print("classification loss %.4f" % fit(model, x, y, nn.functional.cross_entropy, FINETUNE["epochs"], FINETUNE["lr"]))


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(2000, 20) @ torch.randn(20, 20)
    y = (x[:, 0] > x[:, 1]).long()
    pretrain(x)
    finetune(x[:300], y[:300])
