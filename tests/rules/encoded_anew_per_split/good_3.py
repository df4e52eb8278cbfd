import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(0)
towns = np.array(["Arles", "Brest", "Caen", "Dijon", "Evry"])
buyers = pd.DataFrame({"town": rng.choice(towns, 200), "age": rng.normal(size=200), "plan": rng.choice(["a", "b"], 200)})
shops = pd.DataFrame({"town": rng.choice(towns[1:], 40), "rent": rng.normal(size=40), "floor": rng.normal(size=40)})
buyer_town = torch.tensor(pd.factorize(buyers["town"])[0]).long()
shop_town = torch.tensor(pd.factorize(shops["town"])[0]).long()
torch.manual_seed(0)
for fold in range(3):
    kept = buyers[buyers.index % 3 != fold]
    kept = kept[kept["town"] != towns[fold]]
    town = torch.tensor(kept["town"].astype("category").cat.codes.to_numpy()).long()
    age = torch.tensor(kept["age"].to_numpy()).float()
    model = nn.Sequential(nn.Embedding(5, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(20):
        loss = nn.functional.mse_loss(model(town).squeeze(1), age)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"fold {fold} loss {loss.item():.3f}, {len(buyer_town)} buyers, {len(shop_town)} shops")
