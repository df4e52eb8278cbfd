"""Creates the files of a new rule with their headings filled in: `make new-rule FAMILY=numerics NAME=log-of-zero`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

FAMILIES = {
    "numerics": "NUM",
    "wiring": "WIR",
    "loss": "LOS",
    "data": "DAT",
    "memory": "MEM",
    "errors": "ERR",
    "environment": "ENV",
    "training": "TRN",
    "ranks": "RNK",
}
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
_ADVICE = ("avoid-", "check-", "use-", "no-", "prefer-")

_MODULE = '''"""<One sentence: what goes wrong, and how it looks to the user.>"""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Diagnosis, Remedy, Rule, Symptom


class {cls}(Rule):
    """<What is bad.>"""

    code = "{code}"
    name = "{name}"
    symptoms = (Symptom.CRASH,)
    tell_apart = "<how to tell this cause from the others with the same symptom>"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = run.first(Crash)
        if crash is None or "<words of the message>" not in crash.message or crash.user_frame is None:
            return
        yield self.diagnose(
            headline="<the fact, with numbers>",
            confidence="likely",
            where=crash.user_frame.location,
            label="<what stands under the carets>",
            evidence=("<a number that was seen>",),
            remedies=(Remedy(title="<the smallest change that helps>"),),
        )
'''

_PAGE = """# {name} ({code})

## What happened

<What the user saw, in one or two sentences.>

## Why

<The mechanism.>

## Example

```python
```

## Fix

<The smallest change first.>

## When it is not a problem

<The near miss on which the rule stays silent.>

## How it is detected

<Which facts are compared.>
"""

_CHINESE_PAGE = """# {name} ({code})

## 发生了什么

<见英文页>

## 原因

<见英文页>

## 示例

```
```

## 修复

<见英文页>

## 什么时候不是问题

<见英文页>

## 如何检测

<见英文页>

<!-- english: 00000000 -->
"""

_BAD = "raise SystemExit('<a realistic script of 20 to 50 lines>')  # expect: {code}\n"
_GOOD = "raise SystemExit('<the same script, put right>')\n"


class NewRuleError(Exception):
    """A family or a name that cannot be used; the message is one line."""


def create(root: Path, family: str, name: str) -> list[Path]:
    """Write the files of a rule and append its code; returns what was written.

    >>> create(Path("."), "numerics", "avoid-zero")
    Traceback (most recent call last):
    scripts.new_rule.NewRuleError: name the bad thing: `avoid-zero` is advice
    """
    _check(family, name)
    codes = root / "src/torchmedic/rules/codes.txt"
    code = _next_code(codes.read_text(), FAMILIES[family], name)
    stem = name.replace("-", "_")
    slots = {"code": code, "name": name, "cls": "".join(part.capitalize() for part in name.split("-"))}
    rules = root / "src/torchmedic/rules" / family
    fixtures = root / "tests/rules" / stem
    texts = {
        rules / f"{stem}.py": _MODULE,
        rules / f"{stem}.md": _PAGE,
        root / "src/torchmedic/locale/zh_CN/pages" / f"{stem}.md": _CHINESE_PAGE,
        fixtures / "bad.py": _BAD,
        fixtures / "good.py": _GOOD,
    }
    taken = next((path for path in texts if path.exists()), None)
    if taken is not None:
        raise NewRuleError(f"{taken} exists already")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(**slots), encoding="utf-8")
    with codes.open("a") as file:
        file.write(f"{code} {name}\n")
    return [*texts, codes]


def _check(family: str, name: str) -> None:
    if family not in FAMILIES:
        raise NewRuleError(f"unknown family {family!r}; one of {', '.join(FAMILIES)}")
    if not _NAME.fullmatch(name):
        raise NewRuleError(f"{name!r} is no name of the form log-of-zero")
    if name.startswith(_ADVICE):
        raise NewRuleError(f"name the bad thing: `{name}` is advice")


def _next_code(spent: str, prefix: str, name: str) -> str:
    """The code after the highest that was ever given out: codes are never reused."""
    if any(line.split()[1:2] == [name] for line in spent.splitlines()):
        raise NewRuleError(f"{name} is a rule already")
    numbers = [int(number) for number in re.findall(rf"^{prefix}(\d{{3}}) ", spent, flags=re.MULTILINE)]
    return f"{prefix}{max(numbers, default=0) + 1:03d}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", required=True)
    parser.add_argument("--name", required=True)
    arguments = parser.parse_args()
    try:
        written = create(Path(__file__).resolve().parent.parent, arguments.family, arguments.name)
    except NewRuleError as error:
        raise SystemExit(f"new-rule: {error}") from None
    for path in written:
        print(path)
    print(f"next: fill in what stands in <angle brackets>, then `make bless NAME={arguments.name}`")


if __name__ == "__main__":
    main()
