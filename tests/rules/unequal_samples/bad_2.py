import torch
from torch.utils.data import DataLoader, Dataset


class Dialogues(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, i):
        return {"ids": torch.arange(5 + (i == 9) * 3), "speaker": i % 3}


if __name__ == "__main__":
    loader = DataLoader(Dialogues(), batch_size=4, num_workers=1)  # expect: ERR030
    for batch in loader:
        print(batch["ids"].shape)
