"""Word vectors are to be fine-tuned with a small rate of their own; the embedding froze them when it was built."""
import torch
from torch import nn
import torch.nn.functional as F


class Tagger(nn.Module):
    def __init__(self, vectors, classes):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(vectors, padding_idx=0)  # expect: WIR117
        self.mix = nn.Linear(vectors.shape[1], 32)
        self.out = nn.Linear(32, classes)

    def forward(self, tokens):
        return self.out(torch.relu(self.mix(self.words(tokens).mean(1))))


def main():
    torch.manual_seed(0)
    tokens = torch.randint(1, 200, (800, 5))
    labels = (tokens % 7).sum(1) % 3
    model = Tagger(torch.randn(200, 16) * 0.5, 3)
    optimizer = torch.optim.AdamW(
        [
            {"params": model.words.parameters(), "lr": 1e-3},
            {"params": [p for name, p in model.named_parameters() if not name.startswith("words")]},
        ],
        lr=3e-3,
    )
    for epoch in range(3):
        for idx in torch.randperm(800).split(40):
            loss = F.cross_entropy(model(tokens[idx]), labels[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")


main()
