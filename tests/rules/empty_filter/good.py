import pandas as pd
import torch
from torch.utils.data import DataLoader, TensorDataset

trips = pd.DataFrame({"km": [1.2, 3.4, 0.5, 9.9] * 10, "city": ["Ulm", "Bonn", "Ulm", "Kiel"] * 10})
for city in ("Ulm", "Rome", "Kiel"):
    part = trips[(trips.city == city) & (trips.km > 0)]
    if part.empty:
        continue
    data = TensorDataset(torch.tensor(part["km"].to_numpy()))
    for (x,) in DataLoader(data, batch_size=4, shuffle=True):
        print(city, x.mean())
