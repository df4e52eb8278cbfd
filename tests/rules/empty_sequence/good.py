import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

REVIEWS = [
    ("great phone, battery lasts two days", 1),
    ("broke after a week", 0),
    ("never again", 0),
    ("!!!", 0),
    ("screen is bright and sharp", 1),
    ("love it", 1),
]
STOP = {"the", "a", "is", "and", "it"}


def clean(text):
    words = "".join(c if c.isalpha() else " " for c in text.lower()).split()
    return [w for w in words if w not in STOP]


REVIEWS = [(t, y) for t, y in REVIEWS if clean(t)]
WORDS = {w: i + 1 for i, w in enumerate(sorted({w for t, _ in REVIEWS for w in clean(t)}))}


def collate(batch):
    texts = [torch.tensor([WORDS[w] for w in clean(t)], dtype=torch.long) for t, _ in batch]
    lengths = torch.tensor([len(t) for t in texts])
    return pad_sequence(texts, batch_first=True), lengths, torch.tensor([float(y) for _, y in batch])


class ReviewNet(nn.Module):
    def __init__(self, words, width=16):
        super().__init__()
        self.emb = nn.Embedding(words, width, padding_idx=0)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.emb(ids), lengths, batch_first=True, enforce_sorted=False)
        _, last = self.gru(packed)
        return self.out(last[-1]).squeeze(-1)


torch.manual_seed(0)
net = ReviewNet(len(WORDS) + 1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for ids, lengths, y in DataLoader(REVIEWS, batch_size=3, collate_fn=collate):
    loss = nn.functional.binary_cross_entropy_with_logits(net(ids, lengths), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
