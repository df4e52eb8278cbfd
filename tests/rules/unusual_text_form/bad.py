from pathlib import Path

import numpy as np

import torchmedic

rng = np.random.default_rng(5)
rows = [f"Raum {i % 4};{t:.1f};{p:.1f}" for i, (t, p) in enumerate(rng.normal((21, 1013), (2, 6), (300, 2)))]
Path("messung.csv").write_text("Ort;Temperatur;Druck\n" + "\n".join(rows).replace(".", ",") + "\n")

torchmedic.check_data("messung.csv")  # expect: DAT140
