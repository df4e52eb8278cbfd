"""Environments in processes of their own: the script dies of a connection that one of them has left."""
import multiprocessing

import torch
from torch import nn


class Corridor:
    def __init__(self, seed):
        self.place = torch.randn(4, generator=torch.Generator().manual_seed(seed))

    def reset(self):
        return self.place.tolist()


def play(connection, seed):
    corridor = Corridor(seed)
    while connection.recv() == "reset":
        connection.send(corridor.rest())  # expect: ERR043


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    ours, theirs = multiprocessing.Pipe()
    multiprocessing.Process(target=play, args=(theirs, 0), daemon=True).start()
    theirs.close()
    ours.send("reset")
    model(torch.tensor(ours.recv())).sum().backward()


if __name__ == "__main__":
    main()
