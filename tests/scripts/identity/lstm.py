"""An LSTM over packed sequences with an embedding, RMSprop, and hidden state carried from batch to batch."""

import torch
from digest import show
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8, padding_idx=0)
        self.lstm = nn.LSTM(8, 16, num_layers=2, dropout=0.2, batch_first=True)
        self.out = nn.Linear(16, 20)

    def forward(self, tokens, lengths, state):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        packed, state = self.lstm(packed, state)
        padded, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True, total_length=tokens.shape[1])
        return self.out(padded), tuple(s.detach() for s in state)


torch.manual_seed(3)
model = Reader()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
losses, state = [], None
for _ in range(20):
    tokens = torch.randint(1, 20, (4, 12))
    logits, state = model(tokens, torch.tensor([12, 9, 5, 3]), state)
    loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)
show(losses, model)
