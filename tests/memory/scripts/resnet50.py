"""ResNet-50 on images of 224 x 224, Adam, float32."""

import argparse

import torch
from transformers import ResNetConfig, ResNetForImageClassification

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=16)
arguments = parser.parse_args()


def train_step(model: torch.nn.Module, optimizer: torch.optim.Optimizer, batch_size: int) -> torch.Tensor:
    images = torch.randn(batch_size, 3, 224, 224, device="cuda")
    labels = torch.randint(0, 1000, (batch_size,), device="cuda")
    optimizer.zero_grad(set_to_none=True)
    output = model(pixel_values=images, labels=labels)
    loss = output["loss"]
    loss.backward()
    optimizer.step()
    return loss.detach()


torch.manual_seed(0)
model = ResNetForImageClassification(ResNetConfig(num_labels=1000)).train().to("cuda")
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    train_step(model, optimizer, arguments.batch_size)
