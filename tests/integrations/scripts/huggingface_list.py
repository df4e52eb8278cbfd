"""The heads hang in a plain list: neither the optimizer nor the checkpoint sees them."""
import tempfile

import torch
import torch.nn.functional as F
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

set_seed(0)

class Rows(torch.utils.data.Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 8, generator=torch.Generator().manual_seed(1))
        self.y = self.x[:, :3].argmax(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"x": self.x[i], "labels": self.y[i]}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.heads = [nn.Linear(32, 3) for _ in range(2)]  # expect: WIR001

    def forward(self, x, labels):
        x = self.body(x)
        logits = sum(head(x) for head in self.heads)
        return {"loss": F.cross_entropy(logits, labels), "logits": logits}

with tempfile.TemporaryDirectory() as out:
    args = TrainingArguments(out, num_train_epochs=3, per_device_train_batch_size=32, learning_rate=1e-2,
                             save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True)

    Trainer(model=Net(), args=args, train_dataset=Rows(640)).train()
