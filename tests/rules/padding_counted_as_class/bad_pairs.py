import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD, BOS, EOS = 1, 2, 3


def phrase():
    words = torch.randint(4, 24, (int(torch.randint(2, 14, (1,))),))
    return words, torch.cat([torch.tensor([BOS]), words.flip(0), torch.tensor([EOS])])


def collate(batch):
    source, wanted = zip(*batch, strict=True)
    return pad_sequence(source, padding_value=PAD), pad_sequence(wanted, padding_value=PAD)


class Translator(nn.Module):
    def __init__(self, words=24, width=32):
        super().__init__()
        self.source, self.wanted = nn.Embedding(words, width), nn.Embedding(words, width)
        self.encoder, self.decoder = nn.GRU(width, width), nn.GRU(width, width)
        self.scores = nn.Linear(width, words)

    def forward(self, source, wanted):
        _, state = self.encoder(self.source(source))
        return self.scores(self.decoder(self.wanted(wanted), state)[0])


torch.manual_seed(0)
model = Translator()
criterion = nn.CrossEntropyLoss()  # expect: LOS050
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for source, wanted in DataLoader([phrase() for _ in range(640)], batch_size=16, collate_fn=collate):
    scores = model(source, wanted[:-1])
    loss = criterion(scores.flatten(0, 1), wanted[1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
