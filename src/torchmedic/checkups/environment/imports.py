"""What is there instead of what an import asked for."""

from __future__ import annotations

import difflib
import importlib.machinery
import os
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from torchmedic.checkups.environment.script import script_file
from torchmedic.facts import FailedImport, Location, ShadowedModule
from torchmedic.probes.source.frames import is_user_file, location

_MOST_FOLDERS = 400
_SKIPPED = {"node_modules", "__pycache__", "venv", "env", "build", "dist", "wandb", "lightning_logs"}


def failed_import(error: ImportError) -> FailedImport | None:
    """The missing module or name, and its neighbours."""
    module = error.name or ""
    if isinstance(error, ModuleNotFoundError):
        return _missing_module(module) if module else None
    match = re.search(r"cannot import name '([^']+)'", str(error))
    if match is None or not module:
        return None
    loaded = sys.modules.get(module)
    distribution, version = _distribution_of(module.partition(".")[0])
    return FailedImport(
        module=module,
        wanted_name=match.group(1),
        near_names=tuple(difflib.get_close_matches(match.group(1), dir(loaded), n=3, cutoff=0.75)) if loaded else (),
        distribution=distribution,
        version=version,
    )


def _missing_module(module: str) -> FailedImport:
    parent, _, last = module.rpartition(".")
    distribution, version = _distribution_of(module.partition(".")[0])
    return FailedImport(
        module=module,
        near_modules=tuple(_nearest(last, _siblings(parent))),
        project_files=tuple(_project_files(module)),
        distribution=distribution,
        version=version,
    )


def _siblings(parent: str) -> list[str]:
    """What could have been imported: submodules of a loaded package, or everything at the top level."""
    if parent:
        paths = getattr(sys.modules.get(parent), "__path__", None)
        return sorted({entry.name for entry in pkgutil.iter_modules(paths)}) if paths else []
    names = {entry.name for entry in pkgutil.iter_modules()} | set(sys.stdlib_module_names)
    return sorted(name for name in names if not name.startswith("_"))


def _nearest(wanted: str, known: list[str]) -> list[str]:
    """The closest names; of equally close ones, an installed package before a module of Python itself."""
    close = difflib.get_close_matches(wanted, known, n=6, cutoff=0.75)
    ratio = {name: difflib.SequenceMatcher(None, wanted, name).ratio() for name in close}
    return sorted(close, key=lambda name: (-round(ratio[name], 2), name in sys.stdlib_module_names))[:3]


def _distribution_of(top: str) -> tuple[str, str]:
    """The distribution that provides a top-level module, with its version."""
    try:
        from importlib import metadata

        name = metadata.packages_distributions().get(top, [""])[0]
        return (name, metadata.version(name)) if name else ("", "")
    except (ImportError, AttributeError, OSError, ValueError):
        # Also where the user's own file stands in for a module that the metadata reader needs.
        return "", ""


def _project_files(module: str) -> Iterator[str]:
    """Files of this name in the folders around the script: the module is there, but not on the path."""
    top = module.partition(".")[0]
    here = Path.cwd()
    for folder in _folders_around(here):
        for candidate in (folder / f"{top}.py", folder / top):
            if candidate.is_file() or (candidate.is_dir() and any(candidate.glob("*.py"))):
                yield os.path.relpath(candidate, here)


def _folders_around(here: Path) -> Iterator[Path]:
    """The parents of the working directory up to the project's root, and three levels below it."""
    on_path = {os.path.realpath(entry or ".") for entry in sys.path}
    around = [*_up_to_root(here), *_below(here, 3)]
    yield from (folder for folder in around if os.path.realpath(folder) not in on_path)


def _up_to_root(here: Path) -> list[Path]:
    for count, folder in enumerate([here, *here.parents][:4]):
        if any((folder / mark).exists() for mark in (".git", "pyproject.toml", "setup.py", "requirements.txt")):
            return [here, *here.parents][: count + 1]
    return [here]


def _below(here: Path, depth: int) -> list[Path]:
    found: list[Path] = []
    level = [here]
    for _ in range(depth):
        level = [child for folder in level for child in _children(folder)]
        found += level
        if len(found) > _MOST_FOLDERS:
            break
    return found[:_MOST_FOLDERS]


def _children(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    return [e for e in entries if e.is_dir() and not e.name.startswith(".") and e.name not in _SKIPPED]


def shadowed_modules(error: BaseException) -> Iterator[ShadowedModule]:
    """The user's files that took the place of a library which this exception is about."""
    if not isinstance(error, (ImportError, AttributeError)):
        return
    text = str(error)
    for name, file in _top_level():
        if not file or not is_user_file(file) or f"'{name}" not in text:
            continue
        library = _library_of(name, file)
        if library:
            yield ShadowedModule(module=name, local=_first_line(file), library=library)


def _top_level() -> list[tuple[str, str]]:
    """Every module at the top level with its file."""
    found = {name: module for name, module in sys.modules.items() if "." not in name and name != "__main__"}
    files = {name: getattr(module, "__file__", None) or "" for name, module in found.items()}
    script = script_file()
    if script:
        # A script called torch.py that imports torch gets itself.
        files.setdefault(Path(script).stem, script)
    return list(files.items())


def _library_of(name: str, local: str) -> str:
    """Where the library of that name lies; empty when there is none but the user's file."""
    if name in sys.stdlib_module_names:
        return f"Python's own `{name}`"
    own = os.path.dirname(os.path.realpath(local))
    elsewhere = [
        p for p in sys.path if p and os.path.realpath(p) != own and not own.startswith(os.path.realpath(p) + os.sep)
    ]
    spec = importlib.machinery.PathFinder.find_spec(name, elsewhere)
    if spec is None or not spec.origin or is_user_file(spec.origin):
        return ""
    distribution, version = _distribution_of(name)
    return f"{distribution or name} {version}".strip()


def _first_line(file: str) -> Location:
    return location(file, 1)
