"""Imports under `torchmedic run` find what they find without it, and fail as they fail without it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def bare(script: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, script.name]
    return subprocess.run(words, cwd=script.parent, capture_output=True, text=True, check=False)


def watched(script: Path) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    words = [sys.executable, "-m", "torchmedic", "run", "--json", "verdict.json", script.name]
    done = subprocess.run(words, cwd=script.parent, capture_output=True, text=True, check=False)
    verdict = json.loads((script.parent / "verdict.json").read_text())
    return done, [diagnosis["code"] for diagnosis in verdict["diagnoses"]]


def a_script(folder: Path, text: str, name: str = "train.py", **others: str) -> Path:
    for other, content in others.items():
        (folder / f"{other}.py").write_text(content)
    (folder / name).write_text(text)
    return folder / name


def test_a_file_that_hides_a_module_of_python_hides_it_under_us_too(tmp_path: Path) -> None:
    script = a_script(tmp_path, "import tempfile\n", random="def choose():\n    return 4\n")
    assert bare(script).returncode == 1
    done, codes = watched(script)
    assert done.returncode == 1
    assert codes == ["ENV010"]
    assert "your `random.py` is imported in place of Python's own `random`" in done.stderr


@pytest.mark.parametrize("name", ["queue", "socket", "sqlite3", "difflib", "json"])
def test_a_file_with_the_name_of_a_module_of_python_is_the_users(tmp_path: Path, name: str) -> None:
    script = a_script(tmp_path, f"import {name}\nprint({name}.OWN)\n", **{name: "OWN = 'mine'\n"})
    assert bare(script).stdout == "mine\n"
    done, codes = watched(script)
    assert (done.stdout, codes) == ("mine\n", [])


def test_a_script_with_the_name_of_a_library(tmp_path: Path) -> None:
    script = a_script(tmp_path, "import torch\nprint(torch.zeros(2))\n", name="torch.py")
    done, codes = watched(script)
    assert codes == ["ENV010"]
    plain = bare(script).stderr
    assert plain in done.stderr


def test_a_failed_import_shows_the_users_frames_only(tmp_path: Path) -> None:
    script = a_script(tmp_path, "import helper\n", helper="import nowhere_at_all\n")
    done, codes = watched(script)
    assert codes == ["ENV009"]
    assert bare(script).stderr in done.stderr


def test_a_login_in_a_proxy_stays_out_of_the_run(tmp_path: Path) -> None:
    text = (
        "import os, urllib.request\n"
        "os.environ['http_proxy'] = 'http://lab:Tr0ub4dor9@127.0.0.1:9'\n"
        "urllib.request.urlopen('http://weights.example.org/x', timeout=2)\n"
    )
    done, codes = watched(a_script(tmp_path, text))
    assert codes == ["ENV007"]
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".py"]
    assert len(kept) > 1
    assert not any(b"Tr0ub4dor9" in path.read_bytes() for path in kept)
    assert "Tr0ub4dor9" not in done.stderr
