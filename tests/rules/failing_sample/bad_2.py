import torch
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, texts, least):
        self.texts = texts
        self.long = [text for text in texts if len(text) >= least]

    def __len__(self):
        return len(self.texts) // 2  # expect: ERR033

    def __getitem__(self, i):
        first, second = self.long[2 * i], self.long[2 * i + 1]
        return torch.tensor([len(first), len(second)])


pairs = Pairs(["x" * (n % 7) for n in range(60)], least=3)
for batch in DataLoader(pairs, batch_size=4):
    print(batch.shape)
