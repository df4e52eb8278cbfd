import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(64, 4))
    stack = lambda samples: torch.stack([s[0] * 2 for s in samples])  # expect: ERR036
    loader = DataLoader(data, batch_size=16, num_workers=1, collate_fn=stack, multiprocessing_context="spawn")
    for batch in loader:
        print(batch.mean())


if __name__ == "__main__":
    main()
