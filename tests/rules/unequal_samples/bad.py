import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Melodies(Dataset):
    """Notes of short tunes; a few have an upbeat."""

    def __len__(self):
        return 60

    def __getitem__(self, i):
        length = 16 if i % 13 else 18
        notes = (torch.arange(length) * (i + 3)) % 40
        return notes, i % 2


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(40, 8)
        self.out = nn.Linear(8, 2)

    def forward(self, notes):
        return self.out(self.emb(notes).mean(1))


torch.manual_seed(0)
loader = DataLoader(Melodies(), batch_size=6)  # expect: ERR030
model = Tagger()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for notes, kind in loader:
    loss = nn.functional.cross_entropy(model(notes), kind)
    opt.zero_grad()
    loss.backward()
    opt.step()
