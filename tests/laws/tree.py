"""The files that laws are about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "src" / "torchmedic"


def package_files() -> list[Path]:
    """Every Python file of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def own_files() -> list[Path]:
    """Every Python file that is written by hand: the package, the tests, the tools; no fixtures."""
    tests = [*(ROOT / "tests").glob("*.py"), *(ROOT / "tests").glob("*/*.py")]
    return sorted([*package_files(), *tests, *(ROOT / "scripts").glob("*.py"), *(ROOT / "bench").glob("*.py")])


def text_files() -> Iterator[Path]:
    """Everything a reader of the repository may open."""
    folders = ("src", "tests", "docs", "scripts", "bench", "examples", ".ci")
    kinds = {".py", ".md", ".txt", ".toml", ".json", ".jsonl", ".csv", ""}
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            hidden = any(part in ("__pycache__", ".torchmedic") or part.endswith(".egg-info") for part in path.parts)
            if path.is_file() and path.suffix in kinds and not hidden:
                yield path
    yield from (path for path in sorted(ROOT.glob("*")) if path.is_file() and not path.name.startswith("."))


def module_name(path: Path) -> str:
    """The dotted name of a file of the package.

    >>> module_name(PACKAGE / "facts" / "core.py")
    'torchmedic.facts.core'
    """
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
