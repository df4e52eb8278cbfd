"""A saved run is diagnosed again, in every form, without torch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.cli.typed import typed
from torchmedic.facts import Crash, Frame, Location, RunInfo
from torchmedic.store import RUN_FILE, append, create

_BLOCK_TORCH = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "numpy"):
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Blocker())
"""
_COMMAND = "from torchmedic.cli import main\nmain({words!r})\n"


def a_saved_run(folder: Path) -> Path:
    create(folder / RUN_FILE, RunInfo(argv=("train.py",), python="3.11.0", torch="2.13.0+cpu", exit_code=1))
    line = Location(file="my data/train.py", line=3, function="<module>", source="import cv2")
    crash = Crash(
        exception="ModuleNotFoundError",
        message="No module named 'cv2'",
        frames=(Frame(location=line, is_user=True),),
    )
    append(folder / RUN_FILE, [crash])
    return folder


def schema() -> dict[str, object]:
    from importlib import resources

    text = (resources.files("torchmedic.render") / "schema-1.json").read_text(encoding="utf-8")
    plain: dict[str, object] = json.loads(text)
    return plain


def in_a_process_without_torch(*words: str) -> subprocess.CompletedProcess[str]:
    code = _BLOCK_TORCH + _COMMAND.format(words=list(words))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)


def test_without_a_run_the_newest_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer = typed("report")
    assert (answer.status, answer.err.count("\n")) == (2, 1)
    older, newer = (tmp_path / ".torchmedic" / name for name in ("20260101-000000-a-1", "20260102-000000-a-2"))
    older.mkdir(parents=True)
    create(older / RUN_FILE, RunInfo(argv=("train.py",), exit_code=0))
    (newer / "rank0").mkdir(parents=True)
    a_saved_run(newer / "rank0")
    answer = typed("report")
    assert answer.status == 0
    assert "error[ENV009]" in answer.out, "a run of ranks is a run too"


def test_report_draws_writes_json_and_sarif(tmp_path: Path) -> None:
    run = a_saved_run(tmp_path)
    answer = typed("report", str(run), "--json", str(tmp_path / "v.json"), "--sarif", str(tmp_path / "v.sarif"))
    assert answer.status == 0
    assert "error[ENV009]" in answer.out
    verdict = json.loads((tmp_path / "v.json").read_text())
    jsonschema.validate(verdict, schema())
    assert verdict["outcome"] == "crashed"
    assert verdict["diagnoses"][0]["where"] == {
        "file": "my data/train.py",
        "line": 3,
        "function": "<module>",
        "source": "import cv2",
    }
    assert json.loads((tmp_path / "v.sarif").read_text())["version"] == "2.1.0"


def test_report_on_the_screen_alone(tmp_path: Path) -> None:
    run = a_saved_run(tmp_path)
    jsonschema.validate(json.loads(typed("report", str(run), "--json", "-").out), schema())


def test_the_catalogue_report_and_explain_work_without_torch(tmp_path: Path) -> None:
    run = a_saved_run(tmp_path)
    pasted = tmp_path / "pasted.txt"
    pasted.write_text("ModuleNotFoundError: No module named 'cv2'\n")
    for words in (
        ["report", str(run)],
        ["rules"],
        ["symptoms", "--all"],
        ["explain", "ENV009"],
        ["explain", str(pasted)],
    ):
        done = in_a_process_without_torch(*words)
        assert done.returncode == 0, done.stderr
        assert "ENV009" in done.stdout


def test_the_blocker_blocks() -> None:
    code = _BLOCK_TORCH + "import torch\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "torch is blocked" in done.stderr


def test_explaining_a_code_imports_little() -> None:
    code = "import sys\nfrom torchmedic.cli import main\nmain(['explain', 'ENV009'], standalone_mode=False)\n"
    code += "print(sorted(set(sys.modules) & {'torch', 'numpy', 'rich', 'sqlite3', 'pandas'}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
