import torch


class Prompts:
    def __init__(self, tasks, length, width):
        self.table = {task: self._new(length, width) for task in tasks}

    @staticmethod
    def _new(length, width, spread=0.02):
        return torch.randn(length, width, requires_grad=True) * spread  # expect: ERR059

    def parameters(self):
        return list(self.table.values())


def optimizer_for(prompts):
    groups = [{"params": prompts.parameters(), "lr": 1e-2}]
    return torch.optim.Adam(groups)


torch.manual_seed(0)
optimizer_for(Prompts(["a", "b"], 4, 8))
