"""Fills the Example of every rule's page from its bad script, and writes index and counts of the rules: `make docs`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from torchmedic.findings import FAMILIES, Rule
from torchmedic.rules import INDEX as LIST
from torchmedic.rules import catalogue, index_of

ROOT = Path(__file__).resolve().parent.parent
INDEX = Path("docs/reference/rules.md")
READMES = ("README.md", "README.zh-CN.md")
_EXPECT = re.compile(r"[ \t]*# expect: [A-Z]{3}\d{3}[ \t]*$", re.MULTILINE)
_EXAMPLE = re.compile(r"(^## Example\n\n```python\n).*?(^```$)", re.MULTILINE | re.DOTALL)


def example_of(script: str) -> str:
    """A bad script as a reader wants to see it.

    >>> example_of("x = 1 / 0  # expect: NUM002\\n")
    'x = 1 / 0\\n'
    """
    return _EXPECT.sub("", script).strip("\n") + "\n"


def filled(page: str, script: str) -> str:
    """The page with the script in its Example block."""
    return _EXAMPLE.sub(lambda match: match.group(1) + example_of(script) + match.group(2), page)


def index(rules: tuple[Rule, ...]) -> str:
    """The list of all rules, by family."""
    lines = [
        "# Rules",
        "",
        f"{len(rules)} rules. This page is written by `make docs`; `torchmedic explain CODE` shows a page.",
        "",
    ]
    for prefix, family in FAMILIES.items():
        members = [rule for rule in rules if rule.family == family]
        if not members:
            continue
        lines += [f"## {family} ({prefix}, {len(members)})", "", "| code | name | tell it apart by |", "|---|---|---|"]
        lines += [_row(rule, family) for rule in members]
        lines.append("")
    return "\n".join(lines)


def _row(rule: Rule, family: str) -> str:
    page = f"../../src/torchmedic/rules/{family}/{rule.name.replace('-', '_')}.md"
    told = rule.tell_apart.replace("|", "\\|")
    return f"| {rule.code} | [{rule.name}]({page}) | {told} |"


def counted(page: str, rules: tuple[Rule, ...]) -> str:
    """A README with the number of causes in its table of families.

    >>> counted("| memory | MEM | 1 | what grows |", ())
    '| memory | MEM | 0 | what grows |'
    """
    for prefix, family in FAMILIES.items():
        count = sum(rule.family == family for rule in rules)
        page = re.sub(rf"^(\| \w+ \| {prefix} \| )\d+ ", rf"\g<1>{count} ", page, flags=re.MULTILINE)
    return page


def texts(root: Path) -> Iterator[tuple[Path, str]]:
    """Every generated file and what it must say."""
    for rule in catalogue():
        stem = rule.name.replace("-", "_")
        path = root / "src/torchmedic/rules" / rule.family / f"{stem}.md"
        script = root / "tests/rules" / stem / "bad.py"
        if path.exists() and script.exists():
            yield path, filled(path.read_text(), script.read_text())
    yield root / INDEX, index(catalogue())
    yield root / "src/torchmedic/rules" / LIST, index_of(catalogue())
    for name in READMES:
        yield root / name, counted((root / name).read_text(), catalogue())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a page is out of date")
    check = parser.parse_args().check
    stale = [(path, text) for path, text in texts(ROOT) if not path.exists() or path.read_text() != text]
    for path, text in stale:
        print(f"{'out of date' if check else 'written'}: {path.relative_to(ROOT)}")
        if not check:
            path.write_text(text)
    if check and stale:
        raise SystemExit("run `make docs`")


if __name__ == "__main__":
    main()
