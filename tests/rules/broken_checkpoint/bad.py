import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(20, 20)
torch.save(net.state_dict(), "net.pt")
with open("net.pt", "r+b") as file:
    file.truncate(900)
net.load_state_dict(torch.load("net.pt"))  # expect: ERR055
