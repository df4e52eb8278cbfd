import torch

import torchmedic

torch.manual_seed(0)
inputs = [torch.randn(49 if i == 41 else 50) for i in range(100)]
torch.save({"inputs": inputs, "targets": torch.randint(0, 3, (100,))}, "beats.pt")

torchmedic.check_data("beats.pt")  # expect: DAT123
