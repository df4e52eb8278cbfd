"""BERT with hand-written attention on 256 tokens, Adam, float32."""

import argparse

import torch
from transformers import BertConfig, BertForSequenceClassification

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
arguments = parser.parse_args()


def train_step(model: torch.nn.Module, optimizer: torch.optim.Optimizer, batch_size: int) -> torch.Tensor:
    tokens = torch.randint(0, 30522, (batch_size, 256), device="cuda")
    labels = torch.randint(0, 2, (batch_size,), device="cuda")
    optimizer.zero_grad(set_to_none=True)
    output = model(input_ids=tokens, labels=labels)
    loss = output["loss"]
    loss.backward()
    optimizer.step()
    return loss.detach()


torch.manual_seed(0)
model = BertForSequenceClassification(BertConfig(attn_implementation="eager", num_labels=2)).train().to("cuda")
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    train_step(model, optimizer, arguments.batch_size)
