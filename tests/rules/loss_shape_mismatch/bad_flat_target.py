# Only the scores are flattened: the reshape is right, the target lacks it.
import torch
from torch import nn

torch.manual_seed(0)
words, scores = nn.Embedding(50, 12), nn.Linear(12, 50)
ids = torch.randint(0, 50, (16, 9))
logits = scores(words(ids))
loss = nn.functional.cross_entropy(logits.view(-1, 50), ids)  # expect: ERR027
loss.backward()
