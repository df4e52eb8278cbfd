import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self, vocab, emb=32, hidden=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb, padding_idx=0)
        self.rnn = nn.GRU(emb, hidden, num_layers=1, batch_first=True)

    def forward(self, tokens):
        e = self.embed(tokens)
        out, (h, c) = self.rnn(e)  # expect: ERR025
        return h[-1]


class Classifier(nn.Module):
    def __init__(self, vocab, classes):
        super().__init__()
        self.enc = Encoder(vocab)
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(48, classes))

    def forward(self, tokens):
        return self.head(self.enc(tokens))


def main():
    x = torch.randint(1, 500, (256, 20))
    y = (x.float().mean(1) > 250).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    model = Classifier(500, 2)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    crit = nn.CrossEntropyLoss()
    for epoch in range(2):
        for tokens, label in loader:
            opt.zero_grad()
            loss = crit(model(tokens), label)
            loss.backward()
            opt.step()
        print("epoch", epoch, loss.item())


if __name__ == "__main__":
    main()
