import json
import os
import tempfile

import torch

os.chdir(tempfile.mkdtemp())


def prepare(out):
    os.makedirs(os.path.dirname(out), exist_ok=True)
    with open(out, "w") as f:
        json.dump({"a": 0, "b": 1}, f)


def write_parts():
    os.makedirs("parts")
    os.chdir("parts")  # expect: ERR056
    with open("0.txt", "w") as f:
        f.write("abba")


prepare("made/vocab.json")
write_parts()
with open("made/vocab.json") as f:
    vocab = json.load(f)
print(torch.tensor(list(vocab.values())))
