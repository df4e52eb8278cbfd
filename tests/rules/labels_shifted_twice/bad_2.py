"""A small GPT-2 on event logs that are cut into blocks once, before training."""
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)


class Blocks(Dataset):
    def __init__(self, rows, width=16):
        self.rows = []
        for row in torch.randint(0, 40, (rows, width + 1)):
            self.rows.append((row[:width], row[1 : width + 1]))  # expect: LOS041

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        tokens, wanted = self.rows[i]
        return {"input_ids": tokens, "labels": wanted}


model = GPT2LMHeadModel(GPT2Config(vocab_size=40, n_positions=32, n_embd=32, n_layer=1, n_head=2, use_cache=False))
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(2):
    for batch in DataLoader(Blocks(96), batch_size=16, shuffle=True):
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loss {loss.item():.3f}")
