import os

import torch
from torch.utils.data import DataLoader, Dataset


class Notes(Dataset):
    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.files = []
        for i in range(24):
            self.files.append(os.path.join(folder, f"note{i:02d}.txt"))
            with open(self.files[-1], "w") as f:
                f.write("3.5 1.0 2.2" if i != 14 else "3.5 n/a 2.2")

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        path = self.files[i]
        with open(path) as f:
            return torch.tensor(list(map(float, f.read().split())))  # expect: ERR033


if __name__ == "__main__":
    loader = DataLoader(Notes("notes"), batch_size=4, num_workers=2)
    for batch in loader:
        print(batch.mean().item())
