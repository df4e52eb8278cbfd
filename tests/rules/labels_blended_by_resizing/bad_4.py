"""Maps of land use that torch itself enlarges, in a data set."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Land(Dataset):
    def __init__(self, count):
        self.use = 6 * torch.randint(0, 2, (count, 8, 8))
        self.photo = torch.randn(count, 3, 8, 8) + self.use.unsqueeze(1)

    def __len__(self):
        return len(self.use)

    def __getitem__(self, i):
        photo = nn.functional.interpolate(self.photo[i : i + 1], (20, 20), mode="bilinear")[0]
        use = nn.functional.interpolate(self.use[i][None, None].float(), (20, 20), mode="bilinear")  # expect: DAT180
        return photo, use[0, 0].long()


torch.manual_seed(0)
loader = DataLoader(Land(32), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 7, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for photo, use in loader:
        loss = nn.functional.cross_entropy(model(photo), use)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
