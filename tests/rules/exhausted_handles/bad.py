import resource

import torch

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 4096))  # a small machine
torch.manual_seed(0)
logs = []
for step in range(200):
    log = open(f"step{step}.txt", "w")  # expect: ERR062
    log.write(str(torch.randn(1).item()))
    logs.append(log)
