import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
key = nn.Linear(8, 8)
head = nn.Linear(8, 2)
optimizer = torch.optim.SGD([*key.parameters(), *head.parameters()], lr=0.1)
for step in range(3):
    x, label = torch.randn(4, 6, 8), torch.randint(0, 2, (4,))
    is_padding = torch.arange(6) > torch.tensor([[3], [5], [2], [4]])
    with torch.autocast("cpu", dtype=torch.float16):
        scores = key(x) @ key(x).transpose(1, 2)
        scores = scores.masked_fill(is_padding[:, None], torch.finfo(scores.dtype).min)
        pooled = (scores.softmax(-1) @ x.half()).mean(1)
        loss = F.cross_entropy(head(pooled).float(), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.3f}")
