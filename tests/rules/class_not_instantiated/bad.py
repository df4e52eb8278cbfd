import torch
from torch.utils.data import DataLoader, Dataset


class ToTensor:
    def __call__(self, picture):
        return torch.tensor(picture, dtype=torch.float32) / 255


class Centre:
    def __call__(self, picture):
        return picture - picture.mean()


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, picture):
        for transform in self.transforms:
            picture = transform(picture)
        return picture


class Pictures(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return self.transform([[i, 2 * i], [0, 255]])


pipeline = Compose([ToTensor, Centre()])  # expect: ERR045
for batch in DataLoader(Pictures(pipeline), batch_size=4):
    print(batch.shape)
