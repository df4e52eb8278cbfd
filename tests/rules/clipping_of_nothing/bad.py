import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(640, 12)
y = (x @ torch.randn(12, 3)).argmax(1)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
parameters = filter(lambda p: p.requires_grad, model.parameters())
optimizer = torch.optim.SGD(parameters, lr=0.1)
for epoch in range(3):
    for rows in torch.randperm(640).split(32):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)  # expect: TRN042
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
