import torch
from torch import nn


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.gamma = gamma

    def foward(self, logits, target):  # expect: ERR001
        p = torch.sigmoid(logits)
        return -((1 - p) ** self.gamma * target * p.log()).mean()


torch.manual_seed(0)
net = nn.Linear(4, 1)
loss_fn = FocalLoss()
loss = loss_fn(net(torch.randn(8, 4)), torch.ones(8, 1))
loss.backward()
