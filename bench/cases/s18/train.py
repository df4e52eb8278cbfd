import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import load_digits


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 12, 3)
        self.conv2 = nn.Conv2d(12, 16, 3)
        self.fc1 = nn.Linear(64, 40)
        self.fc2 = nn.Linear(40, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return F.softmax(self.fc2(x), dim=1)


def train(model, loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        if batch_idx % 20 == 0:
            print(f"Train Epoch: {epoch} [{batch_idx * len(data)}/{len(loader.dataset)}]\tLoss: {loss.item():.6f}")


def test(model, x, y):
    model.eval()
    with torch.no_grad():
        output = model(x)
    correct = (output.argmax(1) == y).sum().item()
    print(f"Test set: loss {F.nll_loss(output, y).item():.4f}, Accuracy: {correct}/{len(y)} ({100 * correct / len(y):.1f}%)")


digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
labels = torch.tensor(digits.target)
torch.manual_seed(1)
perm = torch.randperm(len(labels))
tr, te = perm[:1400], perm[1400:]
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
loader = DataLoader(TensorDataset(images[tr], labels[tr]), batch_size=32, shuffle=True)
for epoch in range(1, 7):
    train(model, loader, optimizer, epoch)
    test(model, images[te], labels[te])
