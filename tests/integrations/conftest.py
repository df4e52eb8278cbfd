"""Imports the frameworks once, before the forks: in every script it would take seconds."""

from __future__ import annotations

import importlib
import warnings

import pytest


@pytest.fixture(scope="session", autouse=True)
def frameworks() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("lightning.pytorch", "transformers.trainer", "accelerate", "torch_geometric.loader"):
            importlib.import_module(name)
