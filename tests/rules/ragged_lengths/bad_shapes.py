import torch

import torchmedic

torch.manual_seed(0)
samples = [{"x": torch.rand(3, 16, 16), "y": i % 4} for i in range(60)]
samples[41]["x"] = torch.rand(3, 16, 15)
torch.save(samples, "samples.pt")

torchmedic.check_data("samples.pt")  # expect: DAT123
