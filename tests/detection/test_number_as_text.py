"""A number that a configuration file spells as text is found in that file."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from torchmedic.facts import NumberAsText
from torchmedic.probes.crash.number_as_text import number_as_text

SCRIPT = """
from pathlib import Path

def optimizer(lr):
    if not 0.0 <= lr:
        raise ValueError

lines = Path(__file__).with_name("settings.yaml").read_text().splitlines()
found = dict(line.strip().split(": ") for line in lines if ": " in line)
optimizer(found["lr"])
"""


def refused(folder: Path, settings: str) -> NumberAsText | None:
    (folder / "settings.yaml").write_text(settings)
    (folder / "train.py").write_text(SCRIPT)
    with pytest.raises(TypeError) as failure:
        runpy.run_path(str(folder / "train.py"))
    return number_as_text(failure.value)


def test_the_line_of_the_file_is_named(tmp_path: Path) -> None:
    seen = refused(tmp_path, "optim:\n  name: adam\n  lr: 1e-3\n")
    assert seen is not None
    assert (seen.name, seen.text) == ("lr", "1e-3")
    assert seen.written is not None
    assert (Path(seen.written.file).name, seen.written.line) == ("settings.yaml", 3)


INLINE = """
import json
from pathlib import Path

def optimizer(name, **options):
    if not 0.0 <= options["lr"]:
        raise ValueError

optimizer(**json.loads(Path(__file__).with_name("settings.json").read_text())["optim"])
"""


def test_one_of_several_settings_on_a_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{\n  "optim": {"name": "adam", "lr": "3e-4"},\n  "old_lr": "3e-4"\n}\n')
    (tmp_path / "train.py").write_text(INLINE)
    with pytest.raises(TypeError) as failure:
        runpy.run_path(str(tmp_path / "train.py"))
    seen = number_as_text(failure.value)
    assert seen is not None
    assert seen.written is not None
    assert (Path(seen.written.file).name, seen.written.line) == ("settings.json", 2)


def test_text_that_spells_no_number_is_left_alone(tmp_path: Path) -> None:
    assert refused(tmp_path, "optim:\n  lr: auto\n") is None
