"""Pointer-style choice among a varying number of candidates: -inf logits for the absent ones, bool masks, uint8 inputs."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, IterableDataset


class Rounds(IterableDataset):
    """Endless-style stream: up to 8 candidates, each of 6 bytes; the right one has the largest weighted sum."""

    def __init__(self, rounds, seed):
        self.rounds, self.seed = rounds, seed
        self.epoch = 0

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed + 1000 * self.epoch)
        weight = torch.tensor([3.0, -2.0, 1.0, 0.5, 0.0, -1.0])
        for _ in range(self.rounds):
            items = torch.randint(0, 256, (8, 6), generator=g, dtype=torch.uint8)
            present = torch.arange(8) < torch.randint(2, 9, (), generator=g)
            score = (items.float() / 255 * weight).sum(1).masked_fill(~present, float("-inf"))
            yield items, present, score.argmax()


class Pointer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, items, present):
        x = items.float() / 127.5 - 1.0  # bytes to [-1, 1]
        return self.net(x).squeeze(-1).masked_fill(~present, float("-inf"))


torch.manual_seed(0)
stream = Rounds(1280, seed=1)
train = DataLoader(stream, batch_size=64)
test = DataLoader(Rounds(500, seed=77), batch_size=250)
model = Pointer()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=60, gamma=0.5)  # counted in batches: 20 per epoch
for epoch in range(8):
    stream.epoch = epoch
    model.train()
    run = []
    for items, present, answer in train:
        loss = F.cross_entropy(model(items, present), answer)  # the answer is always present, so the loss stays finite
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        run.append(loss.item())
    model.eval()
    with torch.no_grad():
        hits = sum((model(i, p).argmax(1) == a).sum().item() for i, p, a in test)
    print(f"epoch {epoch} loss {sum(run) / len(run):.4f} lr {sched.get_last_lr()[0]:.5f} test acc {hits / 500:.3f}")
print(f"final test accuracy {hits / 500:.3f}")
