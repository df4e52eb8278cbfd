import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(600, 12)
y = (x @ torch.randn(12, 4)).argmax(1)
teacher = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 4)).eval()
student = nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 4))
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
for epoch in range(5):
    for rows in torch.randperm(600).split(50):
        with torch.no_grad():
            wanted = teacher(x[rows])
        answers = student(x[rows])
        soft = F.kl_div(F.log_softmax(answers / 2, 1), F.softmax(wanted / 2, 1), reduction="batchmean")
        loss = 0.7 * soft + 0.3 * F.cross_entropy(answers, y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
