import torch

import torchmedic


class Experiment:
    def __init__(self, scores):
        self.scores = scores


torch.save({"weights": torch.randn(4, 4), "run": Experiment([0.5, 0.7])}, "best.pt")

torchmedic.check_data("best.pt")  # expect: DAT138
