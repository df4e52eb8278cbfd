import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Shorten:
    def __init__(self, length):
        self.length = length

    def __call__(self, signal):
        if len(signal) > self.length:
            return signal[: self.length]
        elif len(signal) < self.length:  # expect: ERR032
            return nn.functional.pad(signal, (0, self.length - len(signal)))


class Scale:
    def __call__(self, signal):
        if signal is None:
            return signal
        return signal / 3.0


class Chain:
    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, signal):
        for part in self.parts:
            signal = part(signal)
        return signal


class Signals(Dataset):
    def __init__(self, lengths, transform):
        self.lengths, self.transform = lengths, transform
        self.note("made")

    def note(self, event):
        self.last_event = event

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, i):
        self.note("read")
        return {"signal": self.transform(torch.ones(self.lengths[i])), "label": i % 2}


data = Signals([9, 12, 7, 8, 10, 11], Chain(Shorten(8), Scale()))
model = nn.Linear(8, 2)
for batch in DataLoader(data, batch_size=6):
    nn.functional.cross_entropy(model(batch["signal"]), batch["label"]).backward()
