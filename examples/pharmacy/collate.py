"""8506: default_collate finds something inside a sample that it cannot stack."""

import argparse
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Box:
    """Where a tablet lies on the picture."""

    left: int
    top: int


class Pictures(Dataset):
    def __init__(self, fault):
        self.pictures = torch.rand(120, 1, 8, 8)
        self.fault = fault

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        box = Box(left=index % 5, top=index % 3)
        place = box if self.fault == "box" else torch.tensor([box.left, box.top])
        return {"image": self.pictures[index], "target": {"count": index % 4, "place": place}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=["none", "box"], default="none")
    options = parser.parse_args()
    torch.manual_seed(0)
    loader = DataLoader(Pictures(options.fault), batch_size=20)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for batch in loader:
        loss = nn.functional.cross_entropy(model(batch["image"]), batch["target"]["count"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
