import os
import urllib.request

import torch
from torch import nn

# The proxy of another network, as it stays behind in a profile.
os.environ["http_proxy"] = "http://lab:Tr0ub4dor@127.0.0.1:9"
os.environ["https_proxy"] = os.environ["http_proxy"]


def fetch_weights(url, path):
    with urllib.request.urlopen(url, timeout=5) as answer, open(path, "wb") as file:  # expect: ENV007
        file.write(answer.read())


model = nn.Linear(4, 2)
fetch_weights("http://weights.example.org/linear.pt", "linear.pt")
model.load_state_dict(torch.load("linear.pt"))
