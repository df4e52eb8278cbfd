"""LoRA written by hand on a frozen Llama-like model of transformers, with gradient checkpointing off, in bf16."""

import argparse

import torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM, get_linear_schedule_with_warmup

ap = argparse.ArgumentParser()
ap.add_argument("--batch_size", type=int, default=2)
ap.add_argument("--seq_len", type=int, default=512)
ap.add_argument("--rank", type=int, default=8)
a = ap.parse_args()


class LoRA(nn.Module):
    def __init__(self, base, r, alpha=16):
        super().__init__()
        self.base, self.scale = base, alpha / r
        self.A = nn.Parameter(torch.randn(r, base.in_features) * 0.01)
        self.B = nn.Parameter(torch.zeros(base.out_features, r))

    def forward(self, x):
        return self.base(x) + (x.to(self.A.dtype) @ self.A.t() @ self.B.t()).to(x.dtype) * self.scale


def inject(model, r):
    for _name, module in list(model.named_modules()):
        for child, layer in list(module.named_children()):
            if child in ("q_proj", "v_proj"):
                setattr(module, child, LoRA(layer, r))


config = LlamaConfig(
    vocab_size=32000,
    hidden_size=1024,
    intermediate_size=2816,
    num_hidden_layers=8,
    num_attention_heads=16,
    num_key_value_heads=4,
    max_position_embeddings=2048,
    use_cache=False,
)
torch.manual_seed(0)
model = LlamaForCausalLM(config).to(torch.bfloat16)
model.requires_grad_(False)
inject(model, a.rank)
model.to("cuda").train()
trainable = [p for p in model.parameters() if p.requires_grad]
print(sum(p.numel() for p in trainable), "of", sum(p.numel() for p in model.parameters()))
opt = torch.optim.AdamW(trainable, lr=1e-4)
sched = get_linear_schedule_with_warmup(opt, 10, 100)
for step in range(4):
    ids = torch.randint(0, 32000, (a.batch_size, a.seq_len), device="cuda")
    mask = torch.ones_like(ids)
    loss = model(input_ids=ids, attention_mask=mask, labels=ids).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(trainable, 1.0)
    opt.step()
    sched.step()
    opt.zero_grad()
    print(step, loss.item())
