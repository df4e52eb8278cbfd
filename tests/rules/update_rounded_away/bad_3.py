"""Weights that a helper casts before it gives the model back: nothing of the cast is in sight when training begins."""
import torch
from torch import nn


class Ratings(nn.Module):
    def __init__(self, people=60, films=40, dim=8):
        super().__init__()
        self.people = nn.Embedding(people, dim)
        self.films = nn.Embedding(films, dim)

    def forward(self, person, film):
        return (self.people(person) * self.films(film)).sum(-1)


def small(model):
    model = model.bfloat16()  # expect: WIR030
    return model.train()


def main():
    torch.manual_seed(0)
    model = small(Ratings())
    optimizer = torch.optim.SGD(model.parameters(), lr=2e-3)
    for _ in range(60):
        person, film = torch.randint(0, 60, (256,)), torch.randint(0, 40, (256,))
        stars = ((person + film) % 5).bfloat16() - 2
        loss = nn.functional.mse_loss(model(person, film), stars)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.2f}")


main()
