"""Who may import whom: what was seen, what is said and how it is drawn stay apart, and rules never see torch."""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.laws.tree import module_name, package_files

_EVERYTHING = frozenset({""})
_SHARES = 2
_GROUND = "torchmedic.facts"
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
    "checkups": BASICS | {"facts", "probes.frames"},
    "probes": BASICS
    | {"facts", "ranks", "journal", "record", "checkups", "traceback_text", "metrics", "launch.imports"},
    "replay": BASICS | {"facts", "ranks", "record", "probes"},
    "watching": BASICS | {"facts", "ranks", "record", "probes", "replay"},
    "launch": BASICS
    | {"facts", "ranks", "store", "record", "probes", "replay", "watching", "checkups", "integrations.trackers"},
    "_boot": frozenset({"launch"}),
    "asserting": frozenset({"facts", "probes"}),
    "estimating": frozenset({"facts", "checkups", "render"}),
    "checking": BASICS | {"facts", "findings", "store", "triage", "render", "checkups", "probes.frames"},
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
        ("torchmedic.checkups.x", "from torchmedic.probes.values import y", "imports torchmedic.probes.values.y"),
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


def _not_alone(groups: list[list[str]]) -> list[str]:
    """The groups of modules, by their first one, that do not import with nothing of torchmedic there before them.

    In a fork, with warnings as errors. What `facts` holds may stay there: it imports nothing of torchmedic, and so
    cannot make up for what another module lacks.
    """
    gc.freeze()  # a collection in the fork would write to every page of what is held here, and so copy it
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            warnings.simplefilter("error")
            _forget("torchmedic")
            failed = [group[0] for group in groups if not _imports_now(group)]
            os.write(writer, "\n".join(["done", *failed]).encode())
        finally:
            os._exit(0)
    gc.unfreeze()
    os.close(writer)
    with open(reader) as answer:
        done, *failed = answer.read().split("\n")
    os.waitpid(pid, 0)
    assert done == "done"
    return failed


def _imports_now(modules: list[str]) -> bool:
    ground = None if modules[0].startswith(_GROUND) else sys.modules.get(_GROUND)
    _forget("torchmedic", but=_GROUND if ground else "")
    try:
        if ground:
            vars(importlib.import_module("torchmedic"))["facts"] = ground
        for module in modules:
            __import__(module)
    except BaseException:  # noqa: BLE001 - one that ends the process is no better
        return False
    return True


def _forget(package: str, but: str = "") -> None:
    for name in [name for name in sys.modules if f"{name}.".startswith(f"{package}.")]:
        if not but or not f"{name}.".startswith(f"{but}."):
            del sys.modules[name]


def batched(names: list[str], size: int) -> list[list[str]]:
    return [names[start : start + size] for start in range(0, len(names), size)]


@pytest.mark.parametrize("share", range(_SHARES))
def test_every_module_imports_alone(share: int) -> None:
    names = [module_name(path) for path in package_files() if "_boot" not in path.parts and path.name != "__main__.py"]
    _import_what_they_lean_on(names)
    # Rules never import each other, so a family of them may share a fork.
    rules = [name for name in names if name.startswith("torchmedic.rules.")]
    others = [name for name in names if name not in rules]
    assert _not_alone([*([name] for name in others[share::_SHARES]), *batched(rules, 60)[share::_SHARES]]) == []


def _import_what_they_lean_on(names: list[str]) -> None:
    """Once, before the forks: torch and every other library that would be imported anew in each of them."""
    for name in names:
        with contextlib.suppress(Exception):  # what does not import here is told by name in its own fork
            importlib.import_module(name)


def test_a_module_that_does_not_import_is_noticed() -> None:
    asked = [["torchmedic.settings"], ["torchmedic.no_such_module"], ["torchmedic.store"]]
    assert _not_alone(asked) == ["torchmedic.no_such_module"]


def test_what_another_module_has_imported_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leaning.py").write_text("import sys\nassert 'torchmedic.store' not in sys.modules\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert _not_alone([["torchmedic.store"], ["leaning"]]) == []
    assert _not_alone([["torchmedic.store", "leaning"]]) == ["torchmedic.store"]
