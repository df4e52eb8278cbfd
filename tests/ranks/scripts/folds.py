import multiprocessing
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(fold, sick):
    torch.manual_seed(fold)
    rows = torch.rand(64, 4) + 0.5
    if sick and fold == 1:
        rows[37, 0] = -1.0
    loader = DataLoader(TensorDataset(rows, rows.sum(1, keepdim=True)), batch_size=4)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        loss = ((model(x) - y).pow(2) * torch.log(x[:, :1]).abs()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_shared(fold, model):
    torch.manual_seed(fold)
    loss_of = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(40):
        x = torch.rand(4, 4)
        loss = loss_of(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def count(words):
    return len(words)


if __name__ == "__main__":
    how, method = sys.argv[1:3]
    processes = multiprocessing.get_context(method)
    if how == "pool":
        with processes.Pool(2) as pool:
            print(sum(pool.map(count, [["a"], ["b", "c"]])))
            pool.starmap(train, [(0, False), (1, False), (2, False)])
            time.sleep(3)  # what is not written yet is lost when the pool ends its processes
    else:
        shared = nn.Linear(4, 1).share_memory()
        given = [(fold, shared) if how == "shared" else (fold, how == "sick") for fold in range(2)]
        target = train_shared if how == "shared" else train
        started = [processes.Process(target=target, args=args) for args in given]
        for process in started:
            process.start()
        for process in started:
            process.join()
