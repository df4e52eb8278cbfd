import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Marks(Dataset):
    """Ids of two bytes, as an annotation tool writes them."""

    def __init__(self):
        self.ids = torch.randint(0, 600, (200, 3, 3))
        self.bytes = torch.stack([self.ids // 256, self.ids % 256], -1).to(torch.uint8)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        pair = self.bytes[index]
        mark = pair[..., 0] * 256 + pair[..., 1]  # expect: DAT004
        return mark.float().flatten() / 600, self.ids[index].float().mean() / 600


torch.manual_seed(0)
model = nn.Linear(9, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for mark, target in DataLoader(Marks(), batch_size=20, shuffle=True):
    loss = nn.functional.mse_loss(model(mark).squeeze(1), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
