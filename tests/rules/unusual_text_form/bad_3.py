from pathlib import Path

import numpy as np

import torchmedic

rng = np.random.default_rng(7)
rows = [f"P{i:04d};{t:.1f};{p:.2f}".replace(".", ",") for i, (t, p) in enumerate(rng.normal((21, 58), (2, 6), (300, 2)))]
# A colleague typed these three by hand.
rows[40:43] = [row.rpartition(",")[0] + "." + row.rpartition(",")[2] for row in rows[40:43]]
Path("messung.csv").write_text("Probe;Temperatur;Druck\n" + "\n".join(rows) + "\n")

torchmedic.check_data("messung.csv")  # expect: DAT140
