"""Nothing in the repository depends on, or tells of, the machine it was written on."""

from __future__ import annotations

import re

from tests.laws.tree import ROOT, text_files

# Written in pieces, so that this file keeps its own law.
_PLACE = re.compile(
    r"(?<![\w.~}\"'`])/(?:" + "|".join(["work/", "root/", "home/[a-z]", "Users/[a-z]", "tmp/", "mnt/"]) + ")"
)


def place_faults(text: str) -> list[str]:
    """The lines with a path of some developer's machine."""
    return [
        line.strip()[:120] for line in text.splitlines() if _PLACE.search(line.replace('"/', " /").replace("'/", " /"))
    ]


def test_no_file_tells_of_a_machine() -> None:
    faults = {
        str(path.relative_to(ROOT)): found
        for path in text_files()
        if (found := place_faults(path.read_text(encoding="utf-8", errors="replace")))
    }
    assert faults == {}


def test_the_law_on_places_can_be_broken() -> None:
    for place in ("root/.cache", "home/ann/x.py", "Users/ann/x", "work/main"):
        assert place_faults(f"see /{place} for it")
        assert place_faults(f"open('/{place}')")
    assert place_faults("docs/home/index and https://host/root/x") == []
