import torch

import torchmedic

torch.save({"weights": torch.randn(4, 4), "scores": [0.5, 0.7], "epoch": 12}, "best.pt")

torchmedic.check_data("best.pt")
