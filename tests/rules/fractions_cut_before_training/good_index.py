"""Ages cut to years for a table of years, and targets that are counts: whole numbers by intention."""
import torch
from torch import nn

torch.manual_seed(0)
ages = torch.rand(1200) * 60
years = ages.long()
visits = torch.poisson(1 + ages / 20)


class Visits(nn.Module):
    def __init__(self):
        super().__init__()
        self.of_year = nn.Embedding(60, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, years):
        return self.out(self.of_year(years)).squeeze(1)


model = Visits()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for at in torch.randperm(1200).split(40):
        loss = nn.functional.mse_loss(model(years[at]), visits[at])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
