import torch

folder = r'Experiments\NoFog\run1'
other = 'Experiments\\NoFog/run1'
print(folder, other, torch.zeros(3), "\N{DEGREE SIGN}")
