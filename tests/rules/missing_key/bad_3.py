import copy

from torch import nn

DEFAULTS = {"seed": 0, "model": {"hidden": 32, "layers": 2, "act": "relu"}}
EXPERIMENTS = {"base": {}, "wide": {"model": {"hidden": 64, "layers": 1}}}
ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU}


def resolve(name):
    config = copy.deepcopy(DEFAULTS)
    config.update(EXPERIMENTS[name])  # expect: ERR040
    return config


def build(settings):
    sizes = [8] + [settings["hidden"]] * settings["layers"]
    layers = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:], strict=False)]
    return nn.Sequential(*layers, ACTIVATIONS[settings["act"]]())


build(resolve("base")["model"])
build(resolve("wide")["model"])
