import numpy as np
import pandas as pd

import torchmedic

# What has digits and is no number: codes, telephones, dates, versions, addresses, lists of ids, classes of age.
rng = np.random.default_rng(3)
n = 400
desk = pd.DataFrame({"part": [f"{i % 900}-{i % 7}A" for i in rng.integers(100, 90000, n)]})
desk["phone"] = [f"030 {a} {b}" for a, b in rng.integers(100, 999, (n, 2))]
desk["shipped"] = [f"{d:02d}.{m:02d}.2023" for d, m in rng.integers(1, 12, (n, 2))]
desk["version"] = [f"{a}.{b}.{c}" for a, b, c in rng.integers(0, 20, (n, 3))]
desk["address"] = [f"10.{a}.{b}.{c}" for a, b, c in rng.integers(0, 255, (n, 3))]
desk["tags"] = [f"{a},{b}" for a, b in rng.integers(100, 999, (n, 2))]
desk["age"] = rng.choice(["18-25", "26-40", "41-60"], n)
desk["size"] = rng.choice(["4XL", "3XL", "2XL", "XL"], n)
desk.to_csv("desk.csv", index=False)

torchmedic.check_data("desk.csv")
