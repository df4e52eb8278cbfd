import torch
from torch import nn

# Lets a CUDA build behave as the CPU build does, so that this script fails alike everywhere.
if hasattr(torch._C, "_cuda_getDeviceCount"):
    del torch._C._cuda_getDeviceCount


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.layers(x)


torch.manual_seed(0)
model = Net()
model.cuda()  # expect: ENV001
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
loss = model(torch.randn(32, 8).cuda()).pow(2).mean()
loss.backward()
optimizer.step()
