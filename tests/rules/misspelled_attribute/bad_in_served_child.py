"""Readers of records that a fork server starts: the script dies of a connection that one of them has left."""
import multiprocessing

import torch
from torch import nn


class Records:
    def __init__(self, count):
        self.rows = torch.arange(4.0 * count).view(count, 4)

    def fetch(self, index):
        return self.rows[index].tolist()


def read(connection, count):
    records = Records(count)
    while (index := connection.recv()) is not None:
        connection.send(records.fech(index))  # expect: ERR043


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    served = multiprocessing.get_context("forkserver")
    ours, theirs = served.Pipe()
    served.Process(target=read, args=(theirs, 8), daemon=True).start()
    theirs.close()
    ours.send(3)
    model(torch.tensor(ours.recv())).sum().backward()


if __name__ == "__main__":
    main()
