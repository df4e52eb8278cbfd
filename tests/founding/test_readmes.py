"""The commands shown beside the examples work: those of torchmedic are rows of the table, the others run here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.founding.table import PAGE, ROOT, rows
from tests.founding.test_founding_cases import typed_in_a_shell

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
    plain = [command for command in commands(readme) if "torchmedic" not in command]
    assert plain
    # One shell for all of them, so that what the first one makes is there for the next.
    said = typed_in_a_shell(" ; ".join(f"{command} || echo status $?" for command in plain), readme.parent, tmp_path)
    wrong = [line for line in said.splitlines() if line.startswith("status ")]
    anomalies = said.count("returned nan values in its")
    assert len(wrong) == min(anomalies, sum("--anomaly" in command for command in plain)), said[-3000:]
