import torch
from transformers import AutoModel

torch.manual_seed(0)
model = AutoModel.from_pretrained("bert-base-uncased")
print(sum(p.numel() for p in model.parameters()))
