"""Probabilities of exactly 0 reach a logarithm inside the model."""
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
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))

    def forward(self, x, labels):
        p = torch.softmax(400 * self.body(x), dim=1)
        picked = p.gather(1, labels[:, None]).squeeze(1)
        loss = -torch.log(picked).mean()  # expect: NUM002
        return {"loss": loss, "logits": p}

with tempfile.TemporaryDirectory() as out:
    args = TrainingArguments(out, num_train_epochs=3, per_device_train_batch_size=32, learning_rate=1e-2,
                             save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True)

    Trainer(model=Net(), args=args, train_dataset=Rows(640)).train()
