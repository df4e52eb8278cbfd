"""Runs `train.py` of the working directory in torch's anomaly mode."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import torch

if __name__ == "__main__":
    torch.autograd.set_detect_anomaly(True)
    sys.argv, sys.path[0] = ["train.py"], str(Path.cwd())
    runpy.run_path("train.py", run_name="__main__")
