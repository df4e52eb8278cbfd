"""Attention over the words of a sentence; the NaN is born deep inside and shows only in the loss, far away."""

import argparse

import torch
from torch import nn

WORDS, LONGEST = 50, 12


class Reader(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.table = nn.Embedding(WORDS, width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.mix = nn.Sequential(nn.Linear(width, 32), nn.Tanh(), nn.Linear(32, width))
        self.score = nn.Linear(width, 2)

    def attend(self, words, mask):
        """Each word looks at the words before it that are not padding."""
        scores = self.query(words) @ self.key(words).transpose(1, 2) / words.shape[-1] ** 0.5
        scores = scores.masked_fill(~mask[:, None, :], float("-inf"))
        return scores.softmax(dim=-1) @ self.value(words)

    def summarise(self, words, mask):
        shown = mask[:, :, None].float()
        return (words * shown).sum(dim=1) / shown.sum(dim=1).clamp_min(1)

    def forward(self, ids, lengths):
        mask = torch.arange(ids.shape[1])[None, :] < lengths[:, None]
        words = self.table(ids)
        words = words + self.attend(words, mask)
        words = words + self.mix(words)
        return self.score(self.summarise(words, mask))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shortest", type=int, default=0, help="fewest words of a sentence")
    options = parser.parse_args()
    torch.manual_seed(0)
    ids = torch.randint(WORDS, (960, LONGEST))
    lengths = torch.randint(max(options.shortest, 1), LONGEST + 1, (960,))
    if options.shortest == 0:
        lengths[700] = 0  # one empty sentence in the corpus
    label = (ids[:, 0] > WORDS // 2).long()
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(3):
        for rows in torch.arange(960).split(48):
            logits = model(ids[rows], lengths[rows])
            loss = nn.functional.cross_entropy(logits, label[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
