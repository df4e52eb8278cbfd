"""A data set drops words from a sentence, and returns the same sentence as the target."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

DROPPED = 0


class Sentences(Dataset):
    def __init__(self, count):
        starts = torch.randint(0, 20, (count, 1))
        self.words = 1 + (starts + torch.arange(10)) % 30

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        words = self.words[i].clone()
        target = words  # expect: LOS103
        words[torch.rand(10) < 0.2] = DROPPED
        return {"words": words, "target": target}


class Restorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(31, 24)
        self.read = nn.GRU(24, 32, batch_first=True, bidirectional=True)
        self.out = nn.Linear(64, 31)

    def forward(self, words):
        return self.out(self.read(self.words(words))[0])


torch.manual_seed(0)
loader = DataLoader(Sentences(600), batch_size=30, shuffle=True)
model = Restorer()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(3):
    for batch in loader:
        answer = model(batch["words"])
        loss = criterion(answer.transpose(1, 2), batch["target"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
