"""Set prediction in the manner of DETR: a small CNN, a transformer, Hungarian matching, box losses."""

import argparse

import torch
from scipy.optimize import linear_sum_assignment
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

p = argparse.ArgumentParser()
p.add_argument("--batch-size", type=int, default=4)
p.add_argument("--queries", type=int, default=100)
p.add_argument("--size", type=int, default=320)
args = p.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Scenes(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        n = int(torch.randint(1, 12, (1,), generator=g))
        image = torch.rand(3, args.size, args.size, generator=g)
        target = {"labels": torch.randint(0, 20, (n,), generator=g), "boxes": torch.rand(n, 4, generator=g)}
        return image, target


def collate(batch):
    images, targets = zip(*batch, strict=False)
    return torch.stack(images), list(targets)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        layers, c = [], 3
        for out in (32, 64, 128, 256):
            layers += [
                nn.Conv2d(c, out, 3, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(out),
                nn.ReLU(inplace=True),
            ]
            layers += [nn.Conv2d(out, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True)]
            c = out
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return self.body(x)


class Detector(nn.Module):
    def __init__(self, d=256):
        super().__init__()
        self.backbone = Backbone()
        self.transformer = nn.Transformer(d, 8, 3, 3, 1024, 0.1, batch_first=True)
        self.query = nn.Embedding(args.queries, d)
        self.row, self.col = nn.Parameter(torch.rand(50, d // 2)), nn.Parameter(torch.rand(50, d // 2))
        self.cls = nn.Linear(d, 21)
        self.box = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, 4))

    def forward(self, x):
        f = self.backbone(x)
        b, _c, h, w = f.shape
        pos = torch.cat([self.col[:w].unsqueeze(0).repeat(h, 1, 1), self.row[:h].unsqueeze(1).repeat(1, w, 1)], -1)
        memory = f.flatten(2).transpose(1, 2) + pos.flatten(0, 1).unsqueeze(0)
        out = self.transformer(memory, self.query.weight.unsqueeze(0).repeat(b, 1, 1))
        return self.cls(out), self.box(out).sigmoid()


@torch.no_grad()
def match(logits, boxes, targets):
    found = []
    for score, box, t in zip(logits.softmax(-1), boxes, targets, strict=False):
        cost = torch.cdist(box, t["boxes"], p=1) - score[:, t["labels"]]
        rows, cols = linear_sum_assignment(cost.cpu().numpy())
        found.append((torch.as_tensor(rows), torch.as_tensor(cols)))
    return found


torch.manual_seed(0)
model = Detector().to(device)
opt = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=1e-4)
loader = DataLoader(Scenes(), batch_size=args.batch_size, shuffle=True, collate_fn=collate, num_workers=2)
weight = torch.ones(21, device=device)
weight[20] = 0.1
for epoch in range(1):
    for images, targets in loader:
        images = images.to(device)
        targets = [{k: v.to(device) for k, v in t.items()} for t in targets]
        logits, boxes = model(images)
        pairs = match(logits, boxes, targets)
        classes = torch.full(logits.shape[:2], 20, dtype=torch.long, device=device)
        wanted, got = [], []
        for i, (r, c) in enumerate(pairs):
            classes[i, r] = targets[i]["labels"][c]
            got.append(boxes[i, r])
            wanted.append(targets[i]["boxes"][c])
        loss = F.cross_entropy(logits.transpose(1, 2), classes, weight) + 5 * F.l1_loss(
            torch.cat(got), torch.cat(wanted)
        )
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        opt.step()
    print(epoch, loss.item())
