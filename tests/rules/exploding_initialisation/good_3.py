import torch
from torch import nn

torch.manual_seed(5)


class Cross(nn.Module):
    """Weights of any size: what comes out of them is normalised."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(inputs, outputs))
        self.gate = nn.Parameter(torch.ones(outputs))
        self.shift = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        made = nn.functional.layer_norm(x @ self.kernel, (len(self.shift),)) + self.shift
        return nn.functional.leaky_relu(made, 0.3) * torch.sigmoid(self.gate)


class Sorter(nn.Module):
    def __init__(self, words=80, width=96, topics=6):
        super().__init__()
        self.mix = nn.ModuleList([Cross(words, width), Cross(width, width), Cross(width, width)])
        self.read = nn.Linear(width, topics)

    def forward(self, counts):
        for layer in self.mix:
            counts = layer(counts)
        return self.read(counts)


topic = torch.randint(0, 6, (960,))
counts = torch.poisson(0.2 + (torch.arange(80) % 6 == topic[:, None]).float())
model = Sorter()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(3):
    for rows in torch.randperm(960).split(48):
        loss = nn.functional.cross_entropy(model(counts[rows]), topic[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3g}")
