import tempfile
from pathlib import Path

import torch
from torch import nn

folder = Path(tempfile.mkdtemp())
rows = ["name;age;left", "Müller;41;1", "Nuñez;33;0", "Smith;52;1", "Håkansson;38;0"]
(folder / "people.csv").write_bytes("\n".join(rows).encode("latin-1"))


def load(path):
    text = Path(path).read_text(encoding="utf-8")  # expect: ERR270
    return [line.split(";") for line in text.splitlines()[1:]]


people = load(folder / "people.csv")
x = torch.tensor([[float(len(name)), float(age)] for name, age, _ in people])
y = torch.tensor([float(left) for *_, left in people])
net = nn.Linear(2, 1)
nn.functional.binary_cross_entropy_with_logits(net(x).squeeze(1), y).backward()
