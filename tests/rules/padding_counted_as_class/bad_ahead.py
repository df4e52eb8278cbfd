import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

PAD, BOS, EOS, SEP, LENGTH = 0, 1, 2, 3, 24


def one_ahead(loader):
    """Hands a batch out when the next one has been fetched, to tell the last of them."""
    waiting = None
    for batch in loader:
        if waiting is not None:
            yield waiting
        waiting = batch
    yield waiting


class Sorting(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(n)
        digits = [torch.randint(4, 14, (int(torch.randint(2, 5, (1,), generator=g)),), generator=g) for _ in range(n)]
        self.texts = [[BOS, *d.tolist(), SEP, *d.sort().values.tolist(), EOS] for d in digits]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        ids = torch.tensor(self.texts[i] + [PAD] * (LENGTH - len(self.texts[i])))
        labels = ids.clone()  # expect: LOS050
        return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": labels}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(14, 32)
        self.cells = nn.GRU(32, 64, batch_first=True)
        self.scores = nn.Linear(64, 14)

    def forward(self, input_ids):
        return self.scores(self.cells(self.tokens(input_ids))[0])


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(2):
    for batch in one_ahead(DataLoader(Sorting(640), batch_size=16, shuffle=True)):
        scores = model(batch["input_ids"])[:, :-1]
        loss = F.cross_entropy(scores.flatten(0, 1), batch["labels"][:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
