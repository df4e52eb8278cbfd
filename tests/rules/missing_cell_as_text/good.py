"""One review consists of the word "null"."""

import pandas as pd
import torch
from torch import nn

with open("reviews.csv", "w") as file:
    file.write("text,label\n" + "a fine film,1\na dull film,0\n" * 20 + "null,0\n")


def load(path):
    return pd.read_csv(path, keep_default_na=False)


def words(text):
    return text.lower().split()


def encode(frame, known):
    rows = [[known.get(word, 0) for word in words(text)] for text in frame["text"]]
    return torch.tensor([(row + [0] * 4)[:4] for row in rows])


frame = load("reviews.csv")
known = {"a": 1, "fine": 2, "dull": 3, "film": 4}
model = nn.Sequential(nn.Embedding(5, 8), nn.Flatten(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for part in (frame.iloc[:32], frame.iloc[32:]):
    loss = nn.functional.cross_entropy(model(encode(part, known)), torch.tensor(part["label"].to_numpy()))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
