import pandas as pd
import torch
from torch.utils.data import DataLoader, TensorDataset


def load(limit):
    trips = pd.DataFrame({"km": [1.2, 3.4, 0.5, 9.9] * 10, "city": ["Ulm", "Bonn", "Ulm", "Kiel"] * 10})
    cities = pd.DataFrame({"city": ["ULM", "BONN", "KIEL"], "size": [1, 2, 3]})
    trips = trips.query("km < @limit")
    return trips.merge(cities, on="city")  # expect: ERR038


table = load(5.0)
data = TensorDataset(torch.tensor(table[["km", "size"]].to_numpy()))
loader = DataLoader(data, batch_size=4, shuffle=True)
for (x,) in loader:
    print(x.mean())
