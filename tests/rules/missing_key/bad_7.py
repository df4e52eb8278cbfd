import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
rows = [{"input_ids": [1 + i % 7, 2, 3 + i % 5][: 2 + i % 2], "label": i % 3} for i in range(12)]


class PadCollator:
    def __init__(self, label_key="labels"):
        self.label_key = label_key

    def __call__(self, samples):
        longest = max(len(s["input_ids"]) for s in samples)
        ids = [s["input_ids"] + [0] * (longest - len(s["input_ids"])) for s in samples]
        return {"input_ids": torch.tensor(ids), self.label_key: torch.tensor([s["label"] for s in samples])}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(16, 8)
        self.cls = nn.Linear(8, 3)

    def forward(self, input_ids):
        return self.cls(self.emb(input_ids).mean(1))


model = Model()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for batch in DataLoader(rows, batch_size=4, collate_fn=PadCollator()):
    labels = batch.pop("label")  # expect: ERR040
    loss = nn.functional.cross_entropy(model(**batch), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
