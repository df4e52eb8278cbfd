import torch
from torch import nn

torch.manual_seed(14)
sound = torch.randn(4, 10, 6)
targets = torch.randint(1, 9, (4, 8))
target_lengths = torch.tensor([3, 4, 8, 4])
encoder = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 9))
ctc = nn.CTCLoss()
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
for step in range(2):
    frames = encoder(sound[:, ::2]).log_softmax(-1).transpose(0, 1)
    input_lengths = torch.full((4,), len(frames))
    loss = ctc(frames, targets, input_lengths, target_lengths)  # expect: NUM017
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
