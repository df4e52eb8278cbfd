from typing import Optional

import torch
from torch import Tensor, nn


class Gate(nn.Module):
    def __init__(self, width: int = 12):
        super().__init__()
        self.mix = nn.Linear(width, width)

    def forward(self, x: Tensor, weight: Optional[Tensor] = None) -> Tensor:
        mixed = self.mix(x)
        if weight is not None:
            mixed = mixed * torch.sqrt(weight)
        return mixed.relu()


model = Gate()
print(model(torch.ones(2, 12), torch.ones(12)).shape)
compiled = torch.jit.script(model)
print(compiled(torch.ones(2, 12)).shape)
