import torch
from torch import nn

model = nn.Linear(4, 2)
torch.save(model.state_dict(), "linear.pt")
with open("report.html", "w") as file:
    file.write("<html><title>report</title></html>")
model.load_state_dict(torch.load("linear.pt"))
