import torch
import cv2  # expect: ENV009

image = cv2.imread("fog.png")
print(torch.from_numpy(image).float().mean())
