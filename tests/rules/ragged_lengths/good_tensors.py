import torch

import torchmedic

# Sentences have their lengths by nature, and each layer of a network its shape.
torch.manual_seed(0)
sentences = [torch.randint(0, 500, (5 + i * 7 % 40,)) for i in range(100)]
layers = [torch.randn(8, 3), *(torch.randn(8, 8) for _ in range(20)), torch.randn(2, 8)]
torch.save({"sentences": sentences, "layers": layers}, "texts.pt")

torchmedic.check_data("texts.pt")
