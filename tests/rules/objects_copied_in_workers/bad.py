"""Notes kept as a list of strings, read by two workers."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler


class Notes(Dataset):
    def __init__(self, count):
        self.texts = [f"{number:08d} " + "patient seen in clinic " * 3 for number in range(count)]  # expect: MEM010

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        return torch.tensor([len(self.texts[index]), float(self.texts[index][:8])]) / 1e6


torch.manual_seed(0)
notes = Notes(300_000)
loader = DataLoader(notes, batch_size=256, num_workers=2, sampler=RandomSampler(notes, num_samples=24_000))
model = nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for batch in loader:
    loss = (model(batch) - batch.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
