import torch.nn as nn


class MultiTaskNet(nn.Module):
    """shared trunk, one small head per task"""

    def __init__(self, n_in, hidden, tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.heads = {}
        for task, n_out in tasks.items():
            self.heads[task] = nn.Linear(hidden, n_out)

    def forward(self, x):
        h = self.trunk(x)
        return {task: head(h) for task, head in self.heads.items()}
