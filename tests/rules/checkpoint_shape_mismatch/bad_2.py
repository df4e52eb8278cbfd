import torch
from torch import nn


class Tiny(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.classifier = nn.Linear(8, classes)

    def forward(self, x):
        return self.classifier(self.body(x))


def without_prefix(state, prefix="module."):
    return {k.removeprefix(prefix): v for k, v in state.items()}


def without_head(state):
    return {k: v for k, v in state.items() if not k.startswith("fc.")}  # expect: ERR053


def load_pretrained(model, path):
    state = without_head(without_prefix(torch.load(path)["state_dict"]))
    missing, unexpected = model.load_state_dict(state, strict=False)
    print(missing, unexpected)
    return model


torch.manual_seed(0)
torch.save({"state_dict": Tiny(10).state_dict()}, "ten.pt")
load_pretrained(Tiny(4), "ten.pt")
