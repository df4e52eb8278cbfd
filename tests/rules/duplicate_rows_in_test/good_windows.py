# Short windows of a text with few words: many of them are in both parts, which were never mixed.
import torch
from torch import nn

torch.manual_seed(0)
size = 24
words = ["cat", "dog", "bird", "horse", "fish", "mouse"]
drawn = torch.randint(0, 6, (1200, 2)).tolist()
text = "".join(f"the {words[a]} sees the {words[b]}. " for a, b in drawn)
letters = sorted(set(text))
data = torch.tensor([letters.index(c) for c in text])
split = int(0.9 * len(data))
train_data, val_data = data[:split], data[split:]


def windows(source):
    starts = torch.randint(len(source) - size - 1, (32,))
    return torch.stack([source[i : i + size] for i in starts]), torch.stack([source[i + size] for i in starts])


model = nn.Sequential(
    nn.Embedding(len(letters), 16), nn.Flatten(), nn.Linear(16 * size, 64), nn.ReLU(), nn.Linear(64, len(letters))
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(120):
    xb, yb = windows(train_data)
    loss = nn.functional.cross_entropy(model(xb), yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        with torch.no_grad():
            x_val, y_val = windows(val_data)
            print(step, loss.item(), nn.functional.cross_entropy(model(x_val), y_val).item())
