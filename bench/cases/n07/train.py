import torch
from torch import nn

torch.manual_seed(2)
N_CLASS, SHOT, DIM = 5, 6, 32
anchors = torch.randn(40, DIM)


def episode(step):
    picks = torch.randperm(len(anchors))[:N_CLASS]
    gain = 12.0 if step % 40 == 33 else 1.0
    support = anchors[picks].repeat_interleave(SHOT, 0) + 2.0 * torch.randn(N_CLASS * SHOT, DIM)
    query = anchors[picks].repeat_interleave(SHOT, 0) + 2.0 * torch.randn(N_CLASS * SHOT, DIM)
    target = torch.arange(N_CLASS).repeat_interleave(SHOT)
    return gain * support, gain * query, target


class ProtoNet(nn.Module):
    def __init__(self, width=128, out=128):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(DIM, width), nn.ReLU(), nn.Linear(width, out))
        nn.init.orthogonal_(self.encoder[0].weight, gain=2.0)
        nn.init.orthogonal_(self.encoder[2].weight)

    def forward(self, support, query):
        s, q = self.encoder(support), self.encoder(query)
        proto = s.view(N_CLASS, SHOT, -1).mean(1)
        q_sq = (q * q).sum(1, keepdim=True)
        p_sq = (proto * proto).sum(1)
        return -(q_sq + p_sq - 2 * q @ proto.t()) / 16


model = ProtoNet()
opt = torch.optim.SGD(model.parameters(), lr=1e-2)
acc = 0.0
for step in range(120):
    support, query, target = episode(step)
    with torch.autocast("cpu", dtype=torch.float16):
        logits = model(support, query)
        loss = nn.functional.cross_entropy(logits.float(), target)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    opt.step()
    acc = 0.9 * acc + 0.1 * (logits.argmax(1) == target).float().mean().item()
    if step % 15 == 0:
        print(f"step {step:3d} loss {loss.item():.4f} acc {acc:.3f}")
