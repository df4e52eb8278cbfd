import torch
from torch import nn

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self, encoder, classes):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(16, classes)

    def freeze(self):
        for p in self.parameters():
            p.requires_grad_(False)  # expect: ERR014

    def forward(self, x):
        return self.head(self.encoder(x))


encoder = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 16))
model = Classifier(encoder, classes=4)
model.freeze()
optimizer = torch.optim.Adam(model.head.parameters(), lr=1e-3)
x, y = torch.randn(64, 20), torch.randint(0, 4, (64,))
loss = nn.functional.cross_entropy(model(x), y)
optimizer.zero_grad()
loss.backward()
optimizer.step()
