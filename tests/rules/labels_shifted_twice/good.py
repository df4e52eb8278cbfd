"""A small GPT-2 on event logs."""
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)


class Events(Dataset):
    def __init__(self):
        self.rows = torch.randint(0, 40, (96, 17))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        return {"input_ids": row, "labels": row}


model = GPT2LMHeadModel(GPT2Config(vocab_size=40, n_positions=32, n_embd=32, n_layer=1, n_head=2, use_cache=False))
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(2):
    for batch in DataLoader(Events(), batch_size=16, shuffle=True):
        loss = model(input_ids=batch["input_ids"], labels=batch["labels"]).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loss {loss.item():.3f}")
