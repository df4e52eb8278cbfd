import torch
from torch import nn

torch.manual_seed(0)
size, vocabulary = 16, 12
nouns = torch.randint(0, 6, (600, 2))
text = torch.stack([nouns[:, 0], 6 + nouns[:, 0] % 3, nouns[:, 1], 9 + nouns[:, 1] % 3], 1).flatten()
train_text, val_text = text[:2000], text[2000:]


def windows(source):
    starts = torch.randint(len(source) - size - 1, (32,))
    return (
        torch.stack([source[i : i + size] for i in starts]),
        torch.stack([source[i + 1 : i + size + 1] for i in starts]),
    )


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, 32)
        self.places = nn.Embedding(size, 32)
        layer = nn.TransformerEncoderLayer(32, 2, 64, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(32, vocabulary)
        self.register_buffer("mask", torch.triu(torch.ones(size, size), diagonal=1).bool())

    def forward(self, ids):
        states = self.tokens(ids) + self.places(torch.arange(size))
        return self.head(self.blocks(states, mask=self.mask))


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
loss_fn = nn.CrossEntropyLoss()
for step in range(60):
    xb, yb = windows(train_text)
    loss = loss_fn(model(xb).view(-1, vocabulary), yb.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        with torch.no_grad():
            x_val, y_val = windows(val_text)
            print(step, loss.item(), loss_fn(model(x_val).view(-1, vocabulary), y_val.view(-1)).item())
