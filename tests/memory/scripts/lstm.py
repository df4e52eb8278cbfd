"""A two-layer LSTM that reads packed sequences of different lengths."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader, TensorDataset


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5000, 128, padding_idx=0)
        self.lstm = nn.LSTM(128, 256, num_layers=2, batch_first=True, dropout=0.2, bidirectional=True)
        self.head = nn.Linear(512, 20)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = pack_padded_sequence(self.embedding(tokens), lengths.cpu(), batch_first=True, enforce_sorted=False)
        out, _ = self.lstm(packed)
        padded, _ = pad_packed_sequence(out, batch_first=True)
        return self.head(padded)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = TensorDataset(
    torch.randint(1, 5000, (512, 100)), torch.randint(20, 101, (512,)), torch.randint(0, 20, (512, 100))
)
loader = DataLoader(data, batch_size=64, shuffle=True, num_workers=2, pin_memory=True)
model = Tagger().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(2):
    for tokens, lengths, tags in loader:
        tokens, lengths, tags = tokens.to(device, non_blocking=True), lengths.to(device), tags.to(device)
        logits = model(tokens, lengths)
        loss = criterion(logits.transpose(1, 2), tags[:, : logits.shape[1]])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
