import argparse

from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--features", type=int, default=8)
parser.add_argument("--hidden", default=32)  # expect: ERR064
options = parser.parse_args(["--hidden", "64"])


class Net(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.inner = nn.Linear(opt.features, opt.hidden)
        self.outer = nn.Linear(opt.hidden, 1)


print(Net(options))
