"""Prices by article: the articles go by the numbers of their bar codes."""

import torch
from torch import nn


class Prices(nn.Module):
    def __init__(self, articles, shops):
        super().__init__()
        self.article = nn.Embedding(articles, 128)
        self.shop = nn.Embedding(shops, 128)

    def forward(self, article, shop):
        return (self.article(article) * self.shop(shop)).sum(-1)


torch.manual_seed(0)
codes = 4_006_381_000_000_000 + torch.randint(0, 999_999, (60,))
article = codes[torch.randint(0, 60, (500,))]
shop = torch.randint(0, 5, (500,))
price = torch.rand(500)

rows = article.max().item() + 1  # expect: ERR276
model = Prices(rows, 5)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(5):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(article, shop), price).backward()
    optimizer.step()
