import io

import pandas as pd
import torch

CSV = "age, bmi, glucose, outcome\n" + "\n".join(f"{20 + i}, {22 + i % 9}, {90 + i}, {i % 2}" for i in range(40))
FEATURES = ["age", "bmi", "glucose"]


def load(text):
    table = pd.read_csv(io.StringIO(text))  # expect: ERR040
    return torch.tensor([[row[name] for name in FEATURES] for _, row in table.iterrows()])


print(load(CSV).mean(0))
