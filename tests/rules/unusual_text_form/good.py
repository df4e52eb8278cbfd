from pathlib import Path

import numpy as np

import torchmedic

rng = np.random.default_rng(5)
# Commas that are no decimals: lists in a cell, and names.
rows = [f"Ruiz, {'ABCDE'[i % 5]}.;{i % 9},{i % 7},3,4;{t:.2f}" for i, t in enumerate(rng.normal(21, 2, 300))]
Path("visits.csv").write_text("name;rooms;temperature\n" + "\n".join(rows) + "\n")

torchmedic.check_data("visits.csv")
