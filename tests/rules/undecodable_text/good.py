import tempfile
from pathlib import Path

import torch
from torch import nn

folder = Path(tempfile.mkdtemp())
rows = ["物流 很 快\t1", "质量 太 差\t0"] * 8
(folder / "reviews.txt").write_bytes("\n".join(rows).encode("gbk"))


def load(path):
    texts, labels = [], []
    with open(path, encoding="gbk") as f:
        for line in f:
            text, label = line.rstrip().split("\t")
            texts.append(text.split())
            labels.append(int(label))
    return texts, torch.tensor(labels)


texts, labels = load(folder / "reviews.txt")
words = sorted({w for t in texts for w in t})
bag = torch.tensor([[float(w in t) for w in words] for t in texts])
model = nn.Linear(len(words), 2)
nn.functional.cross_entropy(model(bag), labels).backward()
