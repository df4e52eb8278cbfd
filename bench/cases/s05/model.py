import torch
from torch import nn


class TinyViT(nn.Module):
    def __init__(self, n_patches=16, patch_dim=16, dim=32, depth=2, classes=4):
        super().__init__()
        self.patch_embed = nn.Linear(patch_dim, dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, n_patches + 1, dim))
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth)
        self.head = nn.Linear(dim, classes)

    def forward(self, patches):
        h = self.patch_embed(patches)
        h = torch.cat([self.cls_token.expand(len(h), -1, -1), h], 1) + self.pos_embed
        return self.head(self.blocks(h)[:, 0])


def param_groups(model, weight_decay):
    decay, no_decay = [], []
    for name, p in model.named_parameters():
        if name.endswith(".bias") or "norm" in name:
            no_decay.append(p)
        elif name.endswith("weight"):
            decay.append(p)
    return [{"params": decay, "weight_decay": weight_decay}, {"params": no_decay, "weight_decay": 0.0}]
