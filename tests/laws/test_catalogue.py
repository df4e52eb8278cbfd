"""Every rule is whole: a page with its headings, a bad and a good script, a drawn diagnosis, a code of its own."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection
from pathlib import Path

import pytest

from scripts.fill_examples import filled
from tests.catalogue import FIXTURES, expectations, fixture_folder
from tests.laws.tree import PACKAGE, ROOT
from torchmedic.findings import FAMILIES, Rule, Symptom
from torchmedic.rules import by_code, catalogue, page

CODES = PACKAGE / "rules" / "codes.txt"
HEADINGS = ["What happened", "Why", "Example", "Fix", "When it is not a problem", "How it is detected"]
_LINE = re.compile(r"([A-Z]{3}\d{3}) ([a-z][a-z0-9]*(?:-[a-z0-9]+)+)(?: was ([A-Z]{3}\d{3}))?")
_ADVICE = ("avoid-", "check-", "use-", "prefer-", "no-")


def page_faults(rule: Rule, text: str) -> list[str]:
    """What is missing on a rule's page."""
    faults = []
    if not text.startswith(f"# {rule.name} ({rule.code})\n"):
        faults.append(f"the title is not `# {rule.name} ({rule.code})`")
    if re.findall(r"^## (.+)$", _without_code(text), flags=re.MULTILINE) != HEADINGS:
        faults.append("the headings are not those of the house, in their order")
    for heading in HEADINGS:
        body = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
        if body is not None and not body.group(1).strip():
            faults.append(f"nothing stands under {heading}")
    if re.search(r"<[A-Z][^>]* [^>]*>", _without_code(text)):
        faults.append("a slot of the template is not filled in")
    return faults


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def rule_faults(rule: Rule, names: Collection[str], codes: Collection[str]) -> list[str]:
    """What is wrong with a rule's own words."""
    faults = []
    if rule.name.startswith(_ADVICE):
        faults.append(f"{rule.name} is advice, not the name of the bad thing")
    if type(rule).__module__.split(".")[-2:] != [FAMILIES.get(rule.code[:3], ""), rule.name.replace("-", "_")]:
        faults.append(f"{rule.code} {rule.name} does not live in a file of its own name and family")
    if not rule.symptoms or not all(isinstance(symptom, Symptom) for symptom in rule.symptoms):
        faults.append("it explains no symptom")
    if not rule.tell_apart.strip() or rule.tell_apart.startswith("<"):
        faults.append("it does not say how to tell it apart")
    if not any(line.split()[:2] == [rule.code, rule.name] for line in codes):
        faults.append(f"codes.txt has no line `{rule.code} {rule.name}`")
    faults += [f"it folds `{fold}`, which is nothing" for fold in rule.folds if not _exists(fold, names, codes)]
    return faults


def _exists(fold: str, names: Collection[str], codes: Collection[str]) -> bool:
    return fold in names or any(code.startswith(fold) for code in (*codes, *FAMILIES))


def fixture_faults(folder: Path, code: str) -> list[str]:
    """What is missing among a rule's scripts."""
    faults = [f"{name} is missing" for name in ("bad.py", "good.py", "expected.txt") if not (folder / name).exists()]
    for bad in folder.glob("bad*.py"):
        if code not in [expected for expected, _, _ in expectations(bad)]:
            faults.append(f"{bad.name} marks no line with `# expect: {code}`")
        if not (folder / (bad.stem.replace("bad", "expected") + ".txt")).exists():
            faults.append(f"{bad.name} has no drawn diagnosis")
    for text in folder.glob("expected*.txt"):
        if not (folder / (text.stem.replace("expected", "bad") + ".py")).exists():
            faults.append(f"{text.name} has lost its script")
        if f"[{code}]" not in text.read_text():
            faults.append(f"{text.name} does not speak of {code}")
    return faults


def codes_faults(text: str, before: str = "") -> list[str]:
    """What is wrong with the list of spent codes, given what it was. A rule that moves says which code it had."""
    lines = text.splitlines()
    faults = [f"not `CODE name`: {line}" for line in lines if not _LINE.fullmatch(line)]
    given: list[str] = []
    spent: dict[str, str] = {}
    for code, name, was in [match.groups() for line in lines if (match := _LINE.fullmatch(line))]:
        if code in given:
            faults.append(f"code given out twice: {code}")
        if spent.get(name) != was:
            faults.append(f"{was} was not {name}" if was else f"name given out twice: {name}")
        given.append(code)
        spent[name] = code
    faults += [f"a spent code was taken away: {line}" for line in before.splitlines() if line not in lines]
    return faults


def _rule_id(rule: Rule) -> str:
    return rule.code


@pytest.mark.parametrize("rule", catalogue(), ids=_rule_id)
def test_a_rule_is_whole(rule: Rule) -> None:
    names = {other.name for other in catalogue()}
    faults = rule_faults(rule, names, CODES.read_text().splitlines())
    faults += page_faults(rule, page(rule))
    faults += fixture_faults(fixture_folder(rule.name), rule.code)
    assert faults == []


def test_no_fixture_without_a_rule() -> None:
    rules = {rule.name.replace("-", "_") for rule in catalogue()}
    folders = {path.name for path in FIXTURES.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders - rules == set()


def test_no_page_without_a_rule() -> None:
    pages = {path.stem for path in (PACKAGE / "rules").glob("*/*.md")}
    assert pages - {rule.name.replace("-", "_") for rule in catalogue()} == set()


def test_codes_are_unique_and_never_taken_away() -> None:
    committed = subprocess.run(
        ["git", "show", f"HEAD:{CODES.relative_to(ROOT)}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert codes_faults(CODES.read_text(), committed.stdout) == []
    assert len({rule.code for rule in catalogue()}) == len(catalogue())


class _Broken(Rule):
    """A rule with every fault."""

    code = "NUM999"
    name = "avoid-zero"
    symptoms = ()
    tell_apart = " "
    folds = ("no-such-rule",)


def test_the_law_on_rules_can_be_broken() -> None:
    said = " | ".join(rule_faults(_Broken(), {"log-of-zero"}, ["NUM001 log-of-zero"]))
    for word in ("is advice", "own name", "no symptom", "tell it apart", "codes.txt", "no-such-rule"):
        assert word in said


def test_the_law_on_pages_can_be_broken() -> None:
    rule = by_code("misspelled-forward")
    assert rule is not None
    whole = filled(page(rule), "x = 1\n")
    assert page_faults(rule, whole) == []
    assert page_faults(rule, whole.replace("## Fix", "## Cure")) != []
    assert page_faults(rule, whole.replace("# ", "#", 1)) != []
    assert page_faults(rule, whole.replace("## Fix\n", "## Fix\n\n<The smallest change first.>\n")) != []
    assert page_faults(rule, re.sub(r"(?s)## Why\n.*?## ", "## Why\n\n## ", whole)) != []


def test_the_law_on_fixtures_can_be_broken(tmp_path: Path) -> None:
    assert len(fixture_faults(tmp_path, "NUM001")) == 3
    for name, text in (("bad.py", "x  # expect: NUM001"), ("good.py", "x"), ("expected.txt", "error[NUM001]: x")):
        (tmp_path / name).write_text(text)
    assert fixture_faults(tmp_path, "NUM001") == []
    (tmp_path / "bad_2.py").write_text("x")
    (tmp_path / "expected_3.txt").write_text("")
    assert len(fixture_faults(tmp_path, "NUM001")) == 4


def test_the_law_on_codes_can_be_broken() -> None:
    assert codes_faults("NUM001 log-of-zero\n", "NUM001 log-of-zero\n") == []
    assert codes_faults("NUM001 log-of-zero\nNUM001 zero-std\n") == ["code given out twice: NUM001"]
    moved = "NUM001 log-of-zero\nWIR001 log-of-zero was NUM001\n"
    assert codes_faults(moved) == []
    assert codes_faults(moved + "NUM001 zero-std\n") == ["code given out twice: NUM001"]
    assert codes_faults("NUM001 log-of-zero\nWIR001 log-of-zero\n") == ["name given out twice: log-of-zero"]
    assert codes_faults("NUM001 log-of-zero\nWIR001 zero-std was NUM001\n") == ["NUM001 was not zero-std"]
    assert codes_faults("num1 x\n") == ["not `CODE name`: num1 x"]
    assert codes_faults("", "NUM001 log-of-zero\n") == ["a spent code was taken away: NUM001 log-of-zero"]
