"""Digit-like images of 28 x 28 pixels, drawn instead of downloaded."""

import numpy as np
import torch

# The seven strokes of a pocket calculator's digits: top, middle, bottom, then left and right, upper and lower.
STROKES = {"t": (4, 5, 8, 20), "m": (13, 14, 8, 20), "b": (22, 23, 8, 20)}
STROKES |= {"ul": (4, 14, 8, 9), "ur": (4, 14, 19, 20), "ll": (13, 23, 8, 9), "lr": (13, 23, 19, 20)}
DIGITS = ["t b ul ur ll lr", "ur lr", "t m b ur ll", "t m b ur lr", "m ul ur lr"]
DIGITS += ["t m b ul lr", "t m b ul ll lr", "t ur lr", "t m b ul ur ll lr", "t m b ul ur lr"]


def draw(digit, rng):
    """One digit, moved by a few pixels, with noise; grey values 0 to 255 as from a scanner."""
    canvas = np.zeros((28, 28))
    down, right = rng.integers(-3, 4, size=2)
    for stroke in DIGITS[digit].split():
        top, bottom, left, end = STROKES[stroke]
        canvas[top + down : bottom + down + 1, left + right : end + right + 1] = 200
    return np.clip(canvas + rng.normal(0, 40, canvas.shape), 0, 255).astype(np.uint8)


def digits(count, seed=0):
    """`count` images as uint8 [count, 28, 28] and their labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, count)
    return np.stack([draw(digit, rng) for digit in labels]), labels


def tensors(count, seed=0):
    """Images as float32 [count, 1, 28, 28] around 0, and labels."""
    images, labels = digits(count, seed)
    return torch.from_numpy(images)[:, None].float() / 127.5 - 1, torch.from_numpy(labels)
