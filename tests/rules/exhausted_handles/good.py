import resource

import torch

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 4096))
torch.manual_seed(0)
for step in range(200):
    with open("step.txt", "w") as log:
        log.write(str(torch.randn(1).item()))
