import torch
from torch import nn

torch.manual_seed(0)
shared = torch.randn(600, 6)
images, texts = shared @ torch.randn(6, 16), shared @ torch.randn(6, 20)
see, read = nn.Linear(16, 8), nn.Linear(20, 8)
optimizer = torch.optim.Adam([*see.parameters(), *read.parameters()], lr=1e-2)
for epoch in range(5):
    for rows in torch.randperm(600).split(50):
        left = nn.functional.normalize(see(images[rows]), dim=1)
        right = nn.functional.normalize(read(texts[rows]), dim=1)
        scores = left @ right.T / 0.1
        partners = torch.zeros(len(scores), dtype=torch.long)  # expect: LOS072
        loss = nn.functional.cross_entropy(scores, partners)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
