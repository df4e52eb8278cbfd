"""A small T5 with gradients accumulated over four micro-batches."""

import torch
from transformers import T5Config, T5ForConditionalGeneration

config = T5Config(vocab_size=8000, d_model=256, d_ff=1024, num_layers=4, num_heads=4, d_kv=64, decoder_start_token_id=0)
model = T5ForConditionalGeneration(config).to("cuda").train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(3):
    for _ in range(4):
        source = torch.randint(0, 8000, (8, 128)).cuda()
        target = torch.randint(0, 8000, (8, 64)).cuda()
        loss = model(input_ids=source, labels=target).loss / 4
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
