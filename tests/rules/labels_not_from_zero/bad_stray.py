import torch
from torch.utils.data import TensorDataset

import torchmedic

torch.manual_seed(5)
stage = torch.randint(0, 4, (600,))
stage[[41, 300]] = -1  # the annotator's "unsure"
stage[17] = 9
signals = torch.randn(600, 12) + stage[:, None]

torchmedic.check_data(TensorDataset(signals, stage))  # expect: DAT108
