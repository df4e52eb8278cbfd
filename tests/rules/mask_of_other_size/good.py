import torch
from torch import nn

torch.manual_seed(0)


class Decoder(nn.Module):
    def __init__(self, vocab=40, width=16, longest=30):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Parameter(torch.randn(1, longest, width) * 0.02)
        layer = nn.TransformerDecoderLayer(width, 2, 32, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, 2)
        self.out = nn.Linear(width, vocab)

    def forward(self, caption, memory):
        length = caption.size(1)
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        hidden = self.tokens(caption) + self.positions[:, :length]
        return self.out(self.decoder(hidden, memory, tgt_mask=mask))


memory = torch.randn(8, 10, 16)
caption = torch.randint(1, 40, (8, 12))
model = Decoder()
logits = model(caption[:, :-1], memory)
loss = nn.functional.cross_entropy(logits.flatten(0, 1), caption[:, 1:].flatten(), ignore_index=0)
loss.backward()
