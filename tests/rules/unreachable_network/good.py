import os
import urllib.error
import urllib.request

import torch
from torch import nn

os.environ["http_proxy"] = "http://127.0.0.1:9"
model = nn.Linear(4, 2)
torch.save(model.state_dict(), "linear.pt")
try:
    urllib.request.urlopen("http://weights.example.org/linear.pt", timeout=5)
except urllib.error.URLError:
    print("offline: using the local copy")
model.load_state_dict(torch.load("linear.pt"))
