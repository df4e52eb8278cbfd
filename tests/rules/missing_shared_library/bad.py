import sys

import torch

sys.path.insert(0, "site-packages")
import cv2  # expect: ENV013

image = cv2.imread("fog.png")
print(torch.from_numpy(image).float().mean())
