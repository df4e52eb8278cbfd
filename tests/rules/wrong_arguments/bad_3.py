from torch import nn

REGISTRY = {}
MODELS = {
    "mlp": {"hidden": 32, "dropout": 0.1},
    "deep": {"hidden": 32, "depth": 3, "drop": 0.2},  # expect: ERR046
}


def register(cls):
    REGISTRY[cls.__name__.lower()] = cls
    return cls


@register
class Mlp(nn.Sequential):
    def __init__(self, inputs, hidden=16, dropout=0.0):
        super().__init__(nn.Linear(inputs, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, 2))


@register
class Deep(nn.Sequential):
    def __init__(self, inputs, hidden=16, depth=2, dropout=0.0):
        sizes = [inputs] + [hidden] * depth
        layers = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:], strict=False)]
        super().__init__(*layers, nn.Dropout(dropout), nn.Linear(hidden, 2))


def create(name, inputs):
    return REGISTRY[name](inputs, **MODELS[name])


for name in MODELS:
    print(create(name, 5))
