import json

import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(2)
documents = pd.DataFrame({"doc": np.arange(400) * 3 % 401, "vector": list(rng.normal(size=(400, 6)))})
# Lists of words and of tokens vary in length, and a document without tags has none.
documents["tags"] = [["red"] * (i % 4) for i in range(400)]
documents["tokens"] = [rng.integers(0, 900, 3 + i % 9).tolist() for i in range(400)]
documents.to_parquet("documents.parquet", index=False)
with open("lines.jsonl", "w") as lines:
    lines.writelines(json.dumps({"v": [i * 0.5, i * 7 % 11], "w": {"a": None}}) + "\n" for i in range(200))

torchmedic.check_data(["documents.parquet", "lines.jsonl"])
