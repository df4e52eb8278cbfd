"""A masked model in the old manner: tokens that are not asked for are labelled with the padding, which is ignored."""

import torch
from torch import nn

PAD, MASK = 0, 1
TOKENS = ["<pad>", "<mask>", *(f"w{n}" for n in range(38))]

torch.manual_seed(0)
embedding, head = nn.Embedding(40, 16, padding_idx=PAD), nn.Linear(16, 40)
model = nn.Sequential(embedding, nn.Linear(16, 16), nn.ReLU(), head)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
lengths = torch.randint(4, 13, (256, 1))
texts = torch.where(torch.arange(12) < lengths, torch.randint(2, 40, (256, 12)), PAD)
for epoch in range(3):
    for rows in torch.randperm(256).split(16):
        asked = (torch.rand(len(rows), 12) < 0.15) & (texts[rows] != PAD)
        asked[:, 0] = True
        scores = model(texts[rows].masked_fill(asked, MASK))
        loss = criterion(scores.transpose(1, 2), torch.where(asked, texts[rows], PAD))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
