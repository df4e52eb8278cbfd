"""Who may import whom: what was seen, what is said and how it is drawn stay apart, and rules never see torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.laws.tree import module_name, package_files

_EVERYTHING = frozenset({""})
BASICS = frozenset({"_version", "settings", "redaction", "late"})

# Each unit with what it may import: a unit, or one module of it. The command line alone may import everything.
MAY_IMPORT = {
    "_version": frozenset(),
    "settings": frozenset(),
    "redaction": frozenset(),
    "late": frozenset(),
    "translation": frozenset(),
    "facts": frozenset({"late"}),
    "findings": frozenset({"facts"}),
    "store": BASICS | {"facts"},
    "sampled": frozenset({"facts", "store"}),
    "ranks": BASICS | {"facts", "store"},
    "traceback_lines": frozenset(),
    "traceback_text": BASICS | {"facts", "traceback_lines"},
    "rules": frozenset({"findings", "facts"}),
    "triage": frozenset({"rules", "findings", "facts"}),
    "curves": frozenset({"facts"}),
    "render": frozenset({"_version", "findings", "facts", "curves", "translation"}),
    "journal": frozenset(),
    "record": BASICS | {"facts", "store", "journal"},
    "checkups": BASICS | {"facts", "probes.source.frames", "probes.source.loops"},
    "probes": BASICS
    | {"facts", "ranks", "journal", "record", "checkups", "traceback_text", "metrics", "launch.imports"},
    "replay": BASICS | {"facts", "ranks", "record", "probes"},
    "watching": BASICS | {"facts", "ranks", "record", "probes", "replay"},
    "launch": BASICS
    | {"facts", "ranks", "store", "record", "probes", "replay", "watching", "checkups", "integrations.trackers"},
    "_boot": frozenset({"launch"}),
    "asserting": frozenset({"facts", "probes"}),
    "estimating": frozenset({"facts", "checkups", "render"}),
    "checking": BASICS | {"facts", "findings", "store", "triage", "render", "checkups", "probes.source.frames"},
    "history": frozenset({"facts", "findings"}),
    "metrics": frozenset({"facts"}),
    "early_stopping": frozenset({"facts", "metrics", "probes"}),
    "reporting": frozenset({"redaction", "facts", "findings", "ranks", "rules", "sampled", "render", "translation"}),
    "live": frozenset({"facts", "findings", "ranks", "render", "reporting", "sampled", "store", "triage"}),
    "in_process": BASICS
    | {
        "facts",
        "findings",
        "store",
        "record",
        "watching",
        "probes",
        "replay",
        "launch",
        "triage",
        "render",
        "reporting",
    },
    "integrations": BASICS
    | {"facts", "findings", "store", "record", "metrics", "early_stopping"}
    | {"in_process", "probes", "render", "reporting", "translation", "triage"},
    "__init__": BASICS
    | {"asserting", "checking", "early_stopping", "estimating", "in_process", "metrics", "integrations"},
    "__main__": frozenset({"cli"}),
    "cli": _EVERYTHING,
}
SEES_TORCH = {
    "probes",
    "record",
    "replay",
    "launch",
    "watching",
    "checkups",
    "integrations",
    "asserting",
    "estimating",
    "early_stopping",
    "in_process",
}


def unit_of(module: str) -> str:
    """The part of the package a module belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports_of(source: str) -> Iterator[tuple[str, int, bool]]:
    """Every imported name with its line, and whether it is imported as soon as the module is."""
    tree = ast.parse(source)
    lazy = {id(node) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef | ast.Lambda) for node in ast.walk(f)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            yield name, node.lineno, id(node) not in lazy


def layer_faults(module: str, source: str) -> list[str]:
    """What a module imports although it may not."""
    unit = unit_of(module)
    allowed = MAY_IMPORT.get(unit)
    if allowed is None:
        return [f"{module}: `{unit}` has no place in the layers"]
    faults = []
    for name, line, at_once in imports_of(source):
        top, _, rest = name.partition(".")
        if top == "torch" and unit not in SEES_TORCH and (at_once or unit != "cli"):
            faults.append(f"{module}:{line} imports torch")
        if top == "torchmedic" and rest and not _permitted(unit, allowed, rest):
            faults.append(f"{module}:{line} imports {name}")
    return faults


def _permitted(unit: str, allowed: frozenset[str], rest: str) -> bool:
    if "" in allowed or rest.split(".")[0] == unit or rest == "__version__":
        return True
    return any(rest == one or rest.startswith(f"{one}.") for one in allowed)


@pytest.mark.parametrize("path", package_files(), ids=module_name)
def test_layers_are_kept(path: Path) -> None:
    assert layer_faults(module_name(path), path.read_text()) == []


@pytest.mark.parametrize(
    ("module", "source", "said"),
    [
        ("torchmedic.rules.numerics.x", "import torch", "imports torch"),
        ("torchmedic.rules.numerics.x", "def f():\n    from torch import nn", "imports torch"),
        ("torchmedic.cli.run", "import torch.nn", "imports torch"),
        ("torchmedic.render.text", "from torchmedic.store import load", "imports torchmedic.store.load"),
        ("torchmedic.probes.x", "from torchmedic import triage", "imports torchmedic.triage"),
        (
            "torchmedic.checkups.x",
            "from torchmedic.probes.objects.values import y",
            "imports torchmedic.probes.objects.values.y",
        ),
        ("torchmedic.novelty", "x = 1", "no place in the layers"),
    ],
)
def test_the_layer_law_can_be_broken(module: str, source: str, said: str) -> None:
    assert any(said in fault for fault in layer_faults(module, source))


def _loads_torch(statement: str) -> bool:
    program = f"{statement}\nimport sys; raise SystemExit(3 if 'torch' in sys.modules else 0)"
    status = subprocess.run([sys.executable, "-c", program], check=False).returncode
    assert status in (0, 3)
    return status == 3


def test_the_diagnosing_half_runs_without_torch() -> None:
    halves = "import torchmedic.triage, torchmedic.store, torchmedic.render.text, torchmedic.render.plain"
    commands = "import torchmedic.cli as c, click; [c.main.get_command(None, n) for n in c.main.list_commands(None)]"
    assert not _loads_torch(f"{halves}\nimport torchmedic.rules\ntorchmedic.rules.catalogue()\n{commands}")


def test_the_absence_of_torch_can_be_disproved() -> None:
    assert _loads_torch("import sys, types; sys.modules['torch'] = types.ModuleType('torch')")
