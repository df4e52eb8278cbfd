"""GPT-2 (124 million parameters) on 512 tokens, Adam, float32."""

import argparse

import torch
from transformers import GPT2Config, GPT2LMHeadModel

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=4)
arguments = parser.parse_args()


def train_step(model: torch.nn.Module, optimizer: torch.optim.Optimizer, batch_size: int) -> torch.Tensor:
    tokens = torch.randint(0, 50257, (batch_size, 512), device="cuda")
    optimizer.zero_grad(set_to_none=True)
    output = model(input_ids=tokens, labels=tokens)
    loss = output["loss"]
    loss.backward()
    optimizer.step()
    return loss.detach()


torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(attn_implementation="sdpa", use_cache=False)).train().to("cuda")
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    train_step(model, optimizer, arguments.batch_size)
