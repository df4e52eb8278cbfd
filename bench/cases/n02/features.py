import numpy as np
import pandas as pd
import torch


def load_tables(seed=11):
    rng = np.random.default_rng(seed)
    n = 2000
    stores = pd.DataFrame({
        "store_id": np.arange(1, 25),
        "floor_area": rng.uniform(200, 1500, 24),
        "parking": rng.integers(0, 80, 24),
    })
    sales = pd.DataFrame({
        "store_id": rng.integers(1, 26, n),
        "weekday": rng.integers(0, 7, n),
        "promo": rng.integers(0, 2, n),
    })
    area = sales["store_id"].map(stores.set_index("store_id")["floor_area"]).fillna(600)
    sales["revenue"] = 0.02 * area + 4 * sales["promo"] + sales["weekday"] + rng.normal(0, 1, n)
    return sales, stores


def zscore(col):
    return (col - col.mean()) / (col.std() + 1e-6)


def build_matrix(sales, stores):
    table = sales.merge(stores, on="store_id", how="left")
    table["parking_per_m2"] = table["parking"] / table["floor_area"]
    names = ["weekday", "promo", "floor_area", "parking", "parking_per_m2"]
    x = np.stack([zscore(table[c]) for c in names], axis=1)
    y = zscore(table["revenue"]).to_numpy()
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32), names
