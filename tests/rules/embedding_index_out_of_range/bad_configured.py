import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
BLOCK = 24


def make_model():
    config = GPT2Config(vocab_size=60, n_positions=16, n_embd=32, n_layer=1, n_head=2)  # expect: ERR018
    return GPT2LMHeadModel(config)


model = make_model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for ids in torch.randint(0, 60, (12, BLOCK)).split(4):
    loss = model(input_ids=ids, labels=ids).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
