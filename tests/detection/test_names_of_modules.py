"""The names of a module are known also while one of its comprehensions runs, which Python 3.13 hides them from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from torch import nn

from torchmedic.probes.objects.bindings import locals_of
from torchmedic.probes.objects.held_names import held_as
from torchmedic.probes.objects.name_paths import namespaces
from torchmedic.replay.loops import read_names

_SCRIPT = "first, model = 1, make()\nseen = [look(model) for row in [7]]\n"


def _look(model: nn.Module) -> dict[str, Any]:
    frame = sys._getframe(1)
    module = frame if frame.f_code.co_name == "<module>" else frame.f_back  # Python 3.11: that of the comprehension
    assert module is not None
    return {
        "held": held_as(model),
        "local": {name for name in locals_of(module) if name in ("first", "model")},
        "read": read_names(module, frozenset(("first", "lacking"))),
        "functions": {name for name, _ in namespaces(module)},
    }


def test_what_a_module_holds_is_found_from_within_its_comprehension(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(_SCRIPT)
    names: dict[str, Any] = {"__name__": "train", "make": lambda: nn.Linear(2, 2), "look": _look}
    exec(compile(_SCRIPT, str(file), "exec"), names)
    (seen,) = names["seen"]
    assert seen["held"] == "model"
    assert seen["local"] == {"first", "model"}
    assert seen["read"] == {"first": 1}
    assert "<module>" not in seen["functions"]
