import random
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

STOP = {"the", "a", "of", "and", "is", "it", "was"}
GOOD = ["great", "fine", "lovely", "superb", "fun"]
BAD = ["awful", "boring", "weak", "slow", "poor"]
VOCAB = {w: i + 1 for i, w in enumerate(GOOD + BAD + ["movie", "plot", "cast", "music"])}


def make_reviews(n, seed):
    rnd = random.Random(seed)
    for _ in range(n):
        label = rnd.randint(0, 1)
        pool = (GOOD if label else BAD) + ["movie", "plot", "cast", "music"] + sorted(STOP)
        yield " ".join(rnd.choice(pool) for _ in range(rnd.randint(5, 12))), label


class Reviews(Dataset):
    def __init__(self, n=2000, seed=13):
        self.rows = [([VOCAB[w] for w in text.split() if w not in STOP], y) for text, y in make_reviews(n, seed)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids, y = self.rows[i]
        return torch.tensor(ids, dtype=torch.long), y


def collate(items):
    ids, ys = zip(*items)
    return pad_sequence(ids, batch_first=True, padding_value=0), torch.tensor(ys)


class MeanPool(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.emb = nn.Embedding(len(VOCAB) + 1, dim, padding_idx=0)
        self.head = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, ids):
        mask = (ids != 0).float().unsqueeze(-1)
        vec = (self.emb(ids) * mask).sum(1) / mask.sum(1)
        return self.head(vec)


torch.manual_seed(1)
loader = DataLoader(Reviews(), batch_size=16, shuffle=True, collate_fn=collate)
model = MeanPool()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for i, (ids, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(ids), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 25 == 0:
            print(f"epoch {epoch} batch {i} loss {loss.item():.4f}")
