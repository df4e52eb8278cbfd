import torch

folder = 'Experiments\NoFog\run1'  # expect: ERR049
weights = torch.zeros(3)
print(folder, weights)
