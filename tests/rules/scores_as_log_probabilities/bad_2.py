import torch
from torch import nn

torch.manual_seed(0)
voice = torch.randn(9, 12)
texts = torch.randint(1, 9, (160, 3))
frames = 0.2 * torch.randn(160, 18, 12)
for place in range(3):
    frames[:, place * 6 : place * 6 + 4] += voice[texts[:, place], None]
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 9))
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(2):
    for rows in torch.randperm(160).split(16):
        scores = model(frames[rows]).transpose(0, 1)
        lengths = torch.full((16,), 18), torch.full((16,), 3)
        loss = ctc(scores, texts[rows], *lengths)  # expect: LOS060
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
