"""Speech recognition: convolutions over mel frames, a bidirectional GRU and CTC; utterances of different lengths."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

device = "cuda" if torch.cuda.is_available() else "cpu"


class Utterances(Dataset):
    def __init__(self, n=48):
        g = torch.Generator().manual_seed(3)
        self.frames = torch.randint(300, 900, (n,), generator=g)
        self.texts = [torch.randint(1, 29, (int(f) // 20,), generator=g) for f in self.frames]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        return torch.randn(int(self.frames[i]), 80), self.texts[i]


def collate(rows):
    rows.sort(key=lambda r: -len(r[0]))
    mels, texts = zip(*rows, strict=False)
    return (
        pad_sequence(mels, batch_first=True),
        torch.tensor([len(m) for m in mels]),
        torch.cat(texts),
        torch.tensor([len(t) for t in texts]),
    )


class Model(nn.Module):
    def __init__(self, hidden=384):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(80, 256, 5, stride=2, padding=2),
            nn.BatchNorm1d(256),
            nn.GELU(),
            nn.Conv1d(256, 256, 5, padding=2),
            nn.BatchNorm1d(256),
            nn.GELU(),
            nn.Dropout(0.1),
        )
        self.rnn = nn.GRU(256, hidden, num_layers=3, bidirectional=True, batch_first=True, dropout=0.1)
        self.out = nn.Linear(2 * hidden, 29)

    def forward(self, mels, lengths):
        h = self.conv(mels.transpose(1, 2)).transpose(1, 2)
        lengths = (lengths + 1) // 2
        packed = pack_padded_sequence(h, lengths.cpu(), batch_first=True)
        h, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.out(h).log_softmax(-1), lengths


torch.manual_seed(0)
model = Model().to(device)
optimizer = torch.optim.AdamW(model.parameters(), 3e-4)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, total_steps=100)
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
loader = DataLoader(Utterances(), batch_size=12, shuffle=True, collate_fn=collate, num_workers=2)
for epoch in range(2):
    total = 0.0
    for mels, lengths, texts, text_lengths in loader:
        logp, out_lengths = model(mels.to(device), lengths)
        loss = ctc(logp.transpose(0, 1), texts.to(device), out_lengths, text_lengths)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        scheduler.step()
        total += loss.item()
    print(epoch, total / len(loader))
