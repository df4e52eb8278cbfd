import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

VOCAB, PAD = 30, 0


class Reviews(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(n):
            length = int(torch.randint(5, 15, (1,), generator=g))
            toks = torch.randint(1, VOCAB, (length,), generator=g)
            score = (toks < 8).sum() - (toks > 22).sum()
            self.items.append((toks, int(score > 0)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    toks, labels = zip(*batch)
    return pad_sequence(list(toks), batch_first=True, padding_value=PAD), torch.tensor(labels)


class SentimentGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 24, padding_idx=PAD)
        self.gru = nn.GRU(24, 32, batch_first=True)
        self.cls = nn.Linear(32, 2)

    def forward(self, toks):
        out, _ = self.gru(self.emb(toks))
        return self.cls(out.mean(1))


torch.manual_seed(0)
train_dl = DataLoader(Reviews(1600, 1), batch_size=16, shuffle=True, collate_fn=collate)
test_dl = DataLoader(Reviews(400, 2), batch_size=100, collate_fn=collate)
model = SentimentGRU()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(5):
    optimizer.zero_grad()
    running = 0.0
    for toks, labels in train_dl:
        loss = loss_fn(model(toks), labels)
        loss.backward()
        optimizer.step()
        running += loss.item()
    with torch.no_grad():
        hits = sum((model(t).argmax(1) == l).sum().item() for t, l in test_dl)
    print(f"epoch {epoch} loss {running / len(train_dl):.4f} test acc {hits / 400:.3f}")
