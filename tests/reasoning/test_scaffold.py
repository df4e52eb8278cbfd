"""`make new-rule` writes everything a rule needs and edits nothing but the list of codes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from scripts.fill_examples import filled
from scripts.new_rule import NewRuleError, create
from tests.catalogue import expectations


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    rules = tmp_path / "src/torchmedic/rules"
    rules.mkdir(parents=True)
    (rules / "codes.txt").write_text("NUM001 log-of-zero\nERR007 odd-thing\nNUM004 zero-std\n")
    return tmp_path


def test_a_new_rule_is_five_files_and_one_line(tree: Path) -> None:
    before = {path for path in tree.rglob("*") if path.is_file()}
    create(tree, "numerics", "empty-mean")
    new = {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file() and path not in before}
    rules, fixtures = "src/torchmedic/rules", "tests/rules/empty_mean"
    assert new == {
        f"{rules}/numerics/empty_mean.py",
        f"{rules}/numerics/empty_mean.md",
        "src/torchmedic/locale/zh_CN/pages/empty_mean.md",
        f"{fixtures}/bad.py",
        f"{fixtures}/good.py",
    }
    assert (tree / rules / "codes.txt").read_text().splitlines()[-1] == "NUM005 empty-mean"
    module = ast.parse((tree / rules / "numerics/empty_mean.py").read_text())
    assert [node.name for node in module.body if isinstance(node, ast.ClassDef)] == ["EmptyMean"]
    assert expectations(tree / fixtures / "bad.py") == [("NUM005", "bad.py", 1)]


@pytest.mark.parametrize(
    ("family", "name", "said"),
    [
        ("numerics", "avoid-zero", "advice"),
        ("numerics", "Zero", "no name"),
        ("medicine", "zero-mean", "unknown family"),
        ("numerics", "zero-std", "already"),
    ],
)
def test_a_bad_name_writes_nothing(tree: Path, family: str, name: str, said: str) -> None:
    before = sorted(tree.rglob("*"))
    with pytest.raises(NewRuleError, match=said):
        create(tree, family, name)
    assert sorted(tree.rglob("*")) == before


def test_the_example_is_the_bad_script_without_its_marks() -> None:
    page = "# x\n\n## Example\n\n```python\nold\n```\n\n## Fix\n"
    assert filled(page, "a = 1\nb = a / 0  # expect: NUM002\n") == page.replace("old\n", "a = 1\nb = a / 0\n")
