import torch
from torch import nn


class UncertaintyWeights(nn.Module):
    """Homoscedastic uncertainty: every task gets a learned log variance."""

    def __init__(self, names):
        super().__init__()
        self.names = names
        self.log_var = nn.Parameter(torch.zeros(len(names)))

    def forward(self, losses):
        values = torch.stack([losses[n] for n in self.names])
        precision = torch.exp(-self.log_var)
        return (precision * values + self.log_var).sum()
