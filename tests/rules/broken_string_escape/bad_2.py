import torch

out = torch.zeros(2)
torch.save(out, "D:\Uploads\out.pt")  # expect: ERR049
