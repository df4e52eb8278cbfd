"""Where the fixtures of the rules lie, and how their expectations are read."""

from __future__ import annotations

import re
from pathlib import Path

FIXTURES = Path(__file__).parent / "rules"
_EXPECT = re.compile(r"#\s*expect:\s*([A-Z]{3}\d{3})")


def fixture_folder(rule_name: str) -> Path:
    return FIXTURES / rule_name.replace("-", "_")


def scripts(kind: str) -> list[Path]:
    """Every `bad*.py` or `good*.py` of every rule."""
    return sorted(FIXTURES.glob(f"*/{kind}*.py"))


def expectations(script: Path) -> list[tuple[str, str, int]]:
    """The `(code, file, line)` triples marked by `# expect: CODE` in a script and its helper modules."""
    found = []
    for file in sorted(script.parent.rglob("*.py")):
        if file.name.startswith(("good", "bad")) and file != script:
            continue
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            found += [(code, file.name, number) for code in _EXPECT.findall(line)]
    return found
