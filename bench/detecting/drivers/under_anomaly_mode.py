"""Runs cases in torch's anomaly mode."""

from __future__ import annotations

import torch
from watching import run_script, serve


def run() -> None:
    torch.autograd.set_detect_anomaly(True)
    run_script()


if __name__ == "__main__":
    serve(lambda told: run())
