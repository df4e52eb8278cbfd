"""Skip-gram with negative sampling: sparse gradients, two tables, most rows idle on any given step."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
TOPICS, PER, DIM = 8, 25, 16
VOCAB = TOPICS * PER


def sentences(n, length=8):
    topic = torch.randint(TOPICS, (n, 1))
    return topic * PER + torch.randint(PER, (n, length))


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.centre = nn.Embedding(VOCAB, DIM, sparse=True)
        self.context = nn.Embedding(VOCAB, DIM, sparse=True)
        nn.init.uniform_(self.centre.weight, -0.5 / DIM, 0.5 / DIM)
        nn.init.zeros_(self.context.weight)  # as in word2vec

    def forward(self, c, pos, neg):
        v = self.centre(c)
        good = (v * self.context(pos)).sum(-1)
        bad = torch.bmm(self.context(neg), v.unsqueeze(2)).squeeze(2)
        return -(F.logsigmoid(good) + F.logsigmoid(-bad).sum(1)).mean()


def neighbours_share_topic(table):
    v = F.normalize(table, dim=1)
    sim = v @ v.T
    sim.fill_diagonal_(-2.0)
    near = sim.topk(5).indices
    return (near // PER == torch.arange(VOCAB)[:, None] // PER).float().mean().item()


model = SkipGram()
opt = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)
run = []
for step in range(1, 1201):
    s = sentences(16)
    centre = s[:, 3].repeat(2)
    context = torch.cat([s[:, 2], s[:, 4]])
    loss = model(centre, context, torch.randint(VOCAB, (32, 5)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    run.append(loss.item())
    if step % 200 == 0:
        purity = neighbours_share_topic(model.centre.weight.detach())
        print(f"step {step} loss {sum(run) / len(run):.4f} neighbour purity {purity:.3f}")
        run.clear()
print(f"final neighbour purity {purity:.3f}")
