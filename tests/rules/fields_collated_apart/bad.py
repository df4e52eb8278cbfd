import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(0)
samples = [(torch.randint(1, 20, (int(torch.randint(3, 12, ())),)), k % 2) for k in range(256)]


def collate(batch):
    labels = torch.tensor([label for _, label in batch])
    texts = sorted((text for text, _ in batch), key=len, reverse=True)  # expect: DAT176
    return pad_sequence(texts, batch_first=True), torch.tensor([len(t) for t in texts]), labels


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 16)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, 2)

    def forward(self, x, lengths):
        _, state = self.rnn(pack_padded_sequence(self.words(x), lengths, batch_first=True))
        return self.head(state[-1])


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, lengths, y in DataLoader(samples, batch_size=16, shuffle=True, collate_fn=collate):
        loss = nn.functional.cross_entropy(model(x, lengths), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
