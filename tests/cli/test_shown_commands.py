"""Every command that the README, the tutorial and the first how-to pages show is one that runs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "README.zh-CN.md", "docs/tutorial.md", "docs/tutorial.zh-CN.md")
PAGES += ("docs/how-to/script.md", "docs/how-to/traceback.md")
_BLOCK = re.compile(r"^```\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SCRIPT = "import sys\nprint(len(sys.argv))\n"
_TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 12, in <module>
    logits = model(images)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x784 and 100x10)
"""


def shown(text: str) -> list[str]:
    """Lines of the blocks that a reader would type."""
    lines = [line.partition("#")[0].strip() for block in _BLOCK.findall(text) for line in block.splitlines()]
    return [line for line in lines if re.match(r"(\S*torchmedic|make|pip|cd) ", line)]


def _all_commands() -> list[str]:
    return list(dict.fromkeys(line for page in PAGES for line in shown((ROOT / page).read_text())))


def _targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_commands_are_found() -> None:
    assert shown("```\nmake demo   # plays\nepoch 0: loss nan\n```\n```python\ncd x\n```\n") == ["make demo"]
    assert {"make demo", "make test", "pip install ."} <= set(_all_commands())


@pytest.mark.parametrize("command", _all_commands())
def test_a_shown_command_runs(command: str, tmp_path: Path) -> None:
    word, *rest = shlex.split(command)
    if word == "make":
        assert set(rest) <= _targets()
    elif word == "cd":
        assert (ROOT / rest[0]).is_dir()
    elif word == "pip":
        assert rest == ["install", "."]
        assert (ROOT / "pyproject.toml").is_file()
    else:
        _prepare(tmp_path)
        done = subprocess.run([sys.executable, "-m", "torchmedic", *rest], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def _prepare(folder: Path) -> None:
    """What the commands speak of: a script, modules of a package, a traceback."""
    (folder / "train.py").write_text(_SCRIPT)
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").touch()
    for module in ("module", "train"):
        (folder / "package" / f"{module}.py").write_text(_SCRIPT)
    (folder / "traceback.txt").write_text(_TRACEBACK)
