import torch
from torch import nn

PAD = 0


class Sentiment(nn.Module):
    def __init__(self, words=40, width=16):
        super().__init__()
        self.embed = nn.Embedding(words, width, padding_idx=PAD)
        layer = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.out = nn.Linear(width, 2)

    def forward(self, ids):
        real = ids != PAD
        h = self.encoder(self.embed(ids), src_key_padding_mask=real)  # expect: WIR081
        return self.out((h * real.unsqueeze(-1)).sum(1) / real.sum(1, keepdim=True))


torch.manual_seed(0)
ids = torch.randint(1, 40, (320, 12))
lengths = torch.randint(3, 13, (320,))
ids[torch.arange(12) >= lengths[:, None]] = PAD
y = ((ids > 0) & (ids < 20)).sum(1) * 2 > lengths
model = Sentiment()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(2):
    for batch in torch.randperm(320).split(16):
        loss = nn.functional.cross_entropy(model(ids[batch]), y[batch].long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
