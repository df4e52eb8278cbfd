import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Head(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.hidden = nn.Linear(features, 32)
        self.score = nn.Linear(32, classes)

    def forward(self, x):
        return self.score(torch.relu(self.hidden(x)))


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.gamma = gamma

    def forward(self, scores, labels):
        log_p = F.log_softmax(scores, dim=-1).gather(1, labels[:, None]).squeeze(1)
        return (-((1 - log_p.exp()) ** self.gamma) * log_p).mean()


torch.manual_seed(0)
x = torch.randn(512, 10)
y = (x @ torch.randn(10, 6)).argmax(1)
model, criterion = Head(10, 6), FocalLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for features, labels in DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(model(features), labels)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
