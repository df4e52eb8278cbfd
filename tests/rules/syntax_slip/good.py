import torch
from torch import nn

net = nn.Sequential(
    nn.Linear(4, 8),
    nn.ReLU(),
    nn.Linear(8, 1),
)
print(net(torch.randn(2, 4)))
try:
    compile("for x in y print(x)", "<text>", "exec")
except SyntaxError as error:
    print(error)
