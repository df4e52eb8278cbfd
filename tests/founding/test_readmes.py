"""The commands shown beside the examples work: those of torchmedic are rows of the table, the others run here."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.founding.table import PAGE, ROOT, rows
from tests.founding.test_founding_cases import LEFT_BEHIND, SECONDS
from tests.running import run_bare

READMES = [ROOT / "examples" / name / "README.md" for name in ("lab_recommender", "node_importance", "first_networks")]
READMES += [ROOT / "examples" / name / "README.md" for name in ("pharmacy", "nan_hunt")]


def commands(readme: Path) -> list[str]:
    """The lines of the fenced blocks that begin with a command."""
    blocks = re.findall(r"^```\n(.*?)^```", readme.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = (line.strip() for block in blocks for line in block.splitlines())
    return [line for line in lines if line.startswith(("python ", "torchmedic "))]


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.parent.name)
def test_answers_that_are_shown_are_tested(readme: Path) -> None:
    promised = {row.command for row in rows(PAGE.read_text(encoding="utf-8")) if row.folder == readme.parent}
    shown = {command for command in commands(readme) if "torchmedic" in command}
    assert shown
    assert shown <= promised


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.parent.name)
def test_plain_commands_run(readme: Path, tmp_path: Path) -> None:
    plain = [shlex.split(command) for command in commands(readme) if "torchmedic" not in command]
    assert plain
    # One folder for all of them, so that what the first one makes is there for the next.
    work = tmp_path / readme.parent.name
    shutil.copytree(readme.parent, work, ignore=LEFT_BEHIND)
    for python, script, *arguments in plain:
        assert python == "python"
        bare = run_bare(work / script, *arguments, timeout=SECONDS)
        stopped = "--anomaly" in arguments and "returned nan values in its" in bare.stderr
        assert bare.status == int(stopped), bare.stderr[-3000:]
