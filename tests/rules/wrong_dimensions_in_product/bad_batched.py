"""A batched product of a matrix that all samples share."""
import torch

torch.manual_seed(0)
states, weight = torch.randn(4, 10, 8), torch.randn(8, 3, requires_grad=True)
scores = torch.bmm(states, weight)  # expect: ERR284
scores.sum().backward()
