"""Tagger on ragged sequences: 2 loader workers, padding collate, ignore_index=-100 targets, packed LSTM."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

IGNORE = -100


class Brackets(Dataset):
    """Token: open, close, or other; tag: the current depth (0..3)."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(n):
            length = int(torch.randint(6, 20, (), generator=g))
            depth, toks, tags = 0, [], []
            for r in torch.rand(length, generator=g).tolist():
                tok = 1 if r < 0.35 and depth < 3 else 2 if r > 0.65 and depth > 0 else 3
                depth += {1: 1, 2: -1, 3: 0}[tok]
                toks.append(tok)
                tags.append(depth)
            self.items.append((torch.tensor(toks), torch.tensor(tags)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(rows):
    toks, tags = zip(*rows)
    return (pad_sequence(toks, batch_first=True, padding_value=0),
            pad_sequence(tags, batch_first=True, padding_value=IGNORE), torch.tensor([len(t) for t in toks]))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(4, 16, padding_idx=0)
        self.rnn = nn.LSTM(16, 32, batch_first=True)
        self.out = nn.Linear(32, 4)

    def forward(self, toks, lengths):
        packed = pack_padded_sequence(self.emb(toks), lengths, batch_first=True, enforce_sorted=False)
        return self.out(pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0])


def main():
    torch.manual_seed(0)
    train = DataLoader(Brackets(800, 1), 32, shuffle=True, collate_fn=collate, num_workers=2, persistent_workers=True)
    test = DataLoader(Brackets(200, 2), 100, collate_fn=collate)
    model = Tagger()
    opt = torch.optim.Adam(model.parameters(), lr=8e-3)
    for epoch in range(6):
        model.train()
        total = 0.0
        for toks, tags, lengths in train:
            loss = F.cross_entropy(model(toks, lengths).flatten(0, 1), tags.flatten(), ignore_index=IGNORE)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item()
        model.eval()
        hit = n = 0
        with torch.no_grad():
            for toks, tags, lengths in test:
                keep = tags != IGNORE
                hit += (model(toks, lengths).argmax(-1) == tags)[keep].sum().item()
                n += keep.sum().item()
        print(f"epoch {epoch} loss {total / len(train):.4f} token acc {hit / n:.3f}")
    print(f"final token accuracy {hit / n:.3f}")


if __name__ == "__main__":
    main()
