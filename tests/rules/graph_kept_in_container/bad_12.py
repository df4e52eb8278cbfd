"""Whether a heart beats in time is told from its sound; every epoch leaves one entry in a book."""

import torch
from torch import nn


class Book:
    def __init__(self):
        self.pages = []

    def look(self, model, sounds, labels):
        model.eval()
        parts = [model(part) for part in sounds.split(100)]
        answers = torch.cat(parts)
        page = {
            "loss": nn.functional.cross_entropy(answers, labels),  # expect: MEM001
            "right": (answers.argmax(1) == labels).float().mean().item(),
        }
        self.pages.append(page)
        return page

    def best(self):
        return max(self.pages, key=lambda page: page["right"])


def sounds_of(count):
    labels = torch.randint(0, 2, (count,))
    beat = torch.sin(torch.linspace(0, 40, 400)) * (labels[:, None] + 1)
    return (beat + torch.randn(count, 400))[:, None], labels


torch.manual_seed(0)
sounds, labels = sounds_of(300)
heard, known = sounds_of(160)
model = nn.Sequential(nn.Conv1d(1, 16, 9), nn.Tanh(), nn.MaxPool1d(4), nn.Flatten(), nn.Linear(16 * 98, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
book = Book()
for epoch in range(5):
    model.train()
    for rows in torch.randperm(len(sounds)).split(30):
        loss = nn.functional.cross_entropy(model(sounds[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} right {book.look(model, heard, known)['right']:.3f}")
print(f"best {book.best()['right']:.3f}")
