"""Fused optimizer steps change the tensors they are given and make none, which torch does not know of all of them."""

from __future__ import annotations

from typing import Any

import torch

_NAMES = ("_fused_adam_", "_fused_adamw_", "_fused_sgd_", "_fused_adagrad_")

_registered: list[torch.library.Library] = []


def install_updates() -> None:
    """Let them be followed."""
    if _registered:
        return
    library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    _registered.append(library)
    known = set(torch._C._dispatch_get_all_op_names())
    for name in (full for each in _NAMES for full in (each, f"{each}.tensor_lr")):
        if f"aten::{name}" in known and not torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "Meta"):
            library.impl(name, _change, "Meta")  # type: ignore[no-untyped-call]


def _change(*_args: Any, **_kwargs: Any) -> None:
    """In place."""
