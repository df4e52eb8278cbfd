"""The line that made what an optimizer was given."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from torchmedic.probes.source.argument_lines import alias_line, argument_made_at, assigned_later, setting_made_at
from torchmedic.probes.source.frames import location, shown_path

SCRIPT = """
def scaled(config):
    return config["lr"] * config["batch"]

def direct(model):
    return Adam(model.parameters(), lr=1e-3)

def computed(model, config):
    rate = scaled(config)
    return Adam(model.parameters(), lr=rate)

def wrapped(model, trainer):
    chosen = [p for p in model.parameters()]
    return trainer(
        model,
        Adam(chosen, lr=0.1),
    )

def gathered(model):
    parts = []
    parts.append(model.head)
    return Adam(parts, lr=0.1)

def by_other_name(model, kinds, kind):
    mine = list(model.parameters())
    return kinds[kind](mine, lr=0.1)

class Agent:
    def __init__(self, saved):
        self.online = saved
        self.target = self.online

    def resume(self, path):
        blob = load(path)
        self.online = blob["model"]

RATE = 0.02
HELD = {
    "rate": 0.03,
}
BUILT = dict(
    rate=RATE,
)

def trained(model):
    return Trainer(model, TrainingArguments(
        learning_rate=BUILT["rate"],
        weight_decay=HELD["rate"],
        warmup_steps=unknown(),
        max_steps=100,
    ))
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    file = tmp_path / "made.py"
    file.write_text(SCRIPT)
    module = ModuleType("made")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "made", module)
    return str(file)


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(SCRIPT.splitlines(), start=1) if text in line)


@pytest.mark.parametrize(
    ("call", "keyword", "position", "made"),
    [
        ("lr=1e-3", "lr", 1, None),
        ("lr=rate", "lr", 1, 'config["lr"] *'),
        ("Adam(chosen", "params", 0, "chosen ="),
        ("Adam(parts", "params", 0, None),
        ("kinds[kind](mine", "params", 0, "mine ="),
    ],
)
def test_an_argument_is_followed_to_the_line_that_made_it(
    script: str, call: str, keyword: str, position: int, made: str | None
) -> None:
    found = argument_made_at(location(script, line_of(call)), "Adam", keyword, position)
    assert (found.line if found else None) == (line_of(made) if made else None)


def test_a_loaded_model_is_put_in_place_later_in_the_same_function(script: str) -> None:
    found = assigned_later(location(script, line_of("blob = load")), "online")
    assert found is not None
    assert (found.file, found.line) == (shown_path(script), line_of("self.online = blob"))


def test_a_second_name_is_told_from_a_copy(script: str) -> None:
    found = alias_line("agent.target", "agent.online")
    assert found is not None
    assert found.line == line_of("self.target =")
    assert alias_line("agent.online", "agent.target") is None


@pytest.mark.parametrize(
    ("keyword", "made"),
    [
        ("learning_rate", "RATE = 0.02"),
        ("weight_decay", '"rate": 0.03'),
        ("warmup_steps", "warmup_steps="),
        ("max_steps", "max_steps="),
        ("seed", None),
    ],
)
def test_a_setting_is_followed_to_the_line_of_its_number(script: str, keyword: str, made: str | None) -> None:
    found = setting_made_at("TrainingArguments", keyword)
    assert (found.line if found else None) == (line_of(made) if made else None)
