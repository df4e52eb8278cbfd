import torch

out = torch.zeros(2)
torch.save(out, "C:\Users\lab\out.pt")  # expect: ERR049
