"""The voice of the house, heard in the text of every diagnosis (tests/rules holds each to its freshly drawn text)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.catalogue import FIXTURES

WIDEST_HEADLINE = 90
BANNED = re.compile(r"(?i)\b(illegal|oops|please|simply|just|obviously|sorry|unfortunately|whoops)\b")
ADVICE = re.compile(
    r"(?i)^(use|try|set|add|check|make sure|ensure|consider|avoid|remember)\b|\b(you should|should be)\b"
)
_HEAD = re.compile(r"^(?:error|warning|hint)\[[A-Z]{3}\d{3}\]: (?:probably: |possibly: )?(.*)$")
_SLOT = re.compile(r"^ +(?:= (note|help|ruled out|more): (.*)|-->.*|:::.*|\|.*|\d+ \|.*)$")
_ACRONYM = re.compile(r"^(?:[A-Z0-9]{2,}[\w.\-]*|NaN|[A-Z]\w+(?:Error|Exception|Warning|Interrupt))\b")


@dataclass
class Said:
    """The spoken parts of one diagnosis."""

    headline: str
    slots: list[tuple[str, str]] = field(default_factory=list)


def heard(text: str) -> list[Said]:
    """The diagnoses of a rendered text, with wrapped lines joined."""
    found: list[Said] = []
    slot = "headline"
    for line in text.splitlines():
        head, other = _HEAD.match(line), _SLOT.match(line)
        if head:
            found.append(Said(headline=head.group(1)))
            slot = "headline"
        elif re.match(r"^ *\d* *\|", line) or line.strip().startswith(("-->", ":::")):
            slot = "window"
        elif other and other.group(1):
            slot = other.group(1)
            found[-1].slots.append((slot, other.group(2)))
        elif line.strip() and found and slot == "headline":
            found[-1].headline += " " + line.strip()
        elif line.strip() and found and slot in ("note", "help"):
            name, so_far = found[-1].slots[-1]
            found[-1].slots[-1] = (name, f"{so_far} {line.strip()}")
    return found


def voice_faults(said: Said) -> list[str]:
    """How a diagnosis breaks the rules of the house."""
    faults = [f"headline: {fault}" for fault in _sentence_faults(said.headline)]
    if len(said.headline) > WIDEST_HEADLINE:
        faults.append(f"headline has {len(said.headline)} columns: {said.headline}")
    if ADVICE.search(said.headline):
        faults.append(f"headline gives advice: {said.headline}")
    for name, text in said.slots:
        if name in ("note", "help"):
            faults += [f"{name}: {fault}" for fault in _sentence_faults(text)]
    if not any(name == "help" for name, _ in said.slots):
        faults.append(f"no help: {said.headline}")
    return faults


def _sentence_faults(text: str) -> list[str]:
    faults = []
    if text[:1].isupper() and not _ACRONYM.match(text):
        faults.append(f"starts with a capital: {text}")
    if text.endswith((".", "!")) and not text.endswith("..."):
        faults.append(f"ends with a stop: {text}")
    spoken = re.sub(r"`[^`]*`", "``", text)
    if BANNED.search(spoken):
        faults.append(f"banned word: {text}")
    if text.count("`") % 2:
        faults.append(f"a backtick stands alone: {text}")
    return faults


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*/expected*.txt")), ids=lambda p: f"{p.parent.name}/{p.name}")
def test_diagnoses_keep_the_voice(path: Path) -> None:
    spoken = heard(path.read_text())
    assert spoken, "no diagnosis in this text"
    assert [fault for said in spoken for fault in voice_faults(said)] == []


GOOD = "error[NUM001]: `log` of zero at step 3\n  --> a.py:1\n   |\n 1 | x\n   = note: 3 zeros\n   = help: clamp it\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("`log` of zero", "Log of zero"), "capital"),
        (("at step 3", "at step 3."), "stop"),
        (("at step 3", "at step 3, please"), "banned"),
        (("`log` of", "use `log1p`, not log of"), "advice"),
        (("`log` of", "`log of"), "backtick"),
        (("zero", "zero" + " and more" * 10), "columns"),
        (("zero", "zero" + " and\n  more" * 10), "columns"),
        (("3 zeros", "3 zeros."), "note"),
        (("   = help: clamp it\n", ""), "no help"),
    ],
)
def test_the_voice_law_can_be_broken(change: tuple[str, str], said: str) -> None:
    assert voice_faults(heard(GOOD)[0]) == []
    assert any(said in fault for fault in voice_faults(heard(GOOD.replace(*change))[0]))
