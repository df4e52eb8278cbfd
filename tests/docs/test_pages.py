"""What the documentation shows exists and runs: commands, options, Python, links, the tables of reference pages."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from scripts.fill_examples import READMES, counted
from tests.laws.test_layers import BASICS, MAY_IMPORT
from torchmedic.cli import main
from torchmedic.findings import FAMILIES
from torchmedic.rules import catalogue

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?P<target>[^)#\s]+)(?:#[^)]*)?\)")
COMMANDS = main.list_commands(click.Context(main))
RUNNABLE = {
    "reference/api.md": "",
    "how-to/curves.md": "accuracy, train, validate = 0.9, lambda model: None, lambda model: 0.5\n",
    "how-to/memory.md": "model, batch = torch.nn.Linear(64, 64), torch.zeros(16, 64)\n",
    "how-to/data.md": """
import pandas

pandas.DataFrame({"row": [1]}).to_parquet("bad.parquet")
events = pandas.DataFrame({"itemid": [1, 2, 3], "value": [0.5, 0.25, 0.75]})
frame = pandas.DataFrame({"itemid": [1, 1, 2, 2], "value": [0.5, 0.3, 0.7, 0.1], "y": [0, 1, 0, 1]})
train_set, test_set = torch.randn(40, 3), torch.randn(20, 3)
""",
}
_STANDARD = {"--help", "-h", "--lang"}


def blocks(page: Path, *languages: str) -> list[str]:
    found = _BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [block["text"] for block in found if block["language"] in languages]


def shown_commands(page: Path) -> list[str]:
    """Lines of blocks that call torchmedic, without a remark or what is piped into it."""
    lines = [line for block in blocks(page, "") for line in block.splitlines()]
    bare = [line.partition(" #")[0].rpartition(" | ")[2].strip() for line in lines]
    return [line for line in bare if re.match(r"(\S*/)?torchmedic ", line)]


def all_commands() -> list[str]:
    return sorted({command for page in PAGES for command in shown_commands(page)})


def options(name: str) -> list[click.Option]:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    return [p for p in command.params if isinstance(p, click.Option)]


def flags(name: str) -> set[str]:
    return {flag for option in options(name) for flag in (*option.opts, *option.secondary_opts)}


def unknown_in(line: str) -> list[str]:
    """The command or the options of a shown line that torchmedic does not have; what follows a script is its own."""
    _, name, *words = shlex.split(line)
    if name not in COMMANDS:
        return [name]
    with_value = {flag for option in options(name) if not option.is_flag for flag in option.opts}
    unknown = []
    while words:
        word = words.pop(0)
        is_option = word.startswith("-") and word != "-"
        if name in ("run", "memory") and (not is_option or word == "-m"):
            break
        if is_option and word not in flags(name) | _STANDARD:
            unknown.append(word)
        if word in with_value | {"--lang"}:
            words = words[1:]
    return unknown


def test_faults_of_a_command_are_seen() -> None:
    assert unknown_in("torchmedic run --fail-on error train.py --anything") == []
    assert unknown_in("torchmedic run --fail-fast train.py") == ["--fail-fast"]
    assert unknown_in("torchmedic heal train.py") == ["heal"]


def test_commands_are_found() -> None:
    assert len(all_commands()) > 20


@pytest.mark.parametrize("command", all_commands())
def test_a_shown_command_exists_with_its_options(command: str) -> None:
    assert unknown_in(command) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_has_every_option(name: str) -> None:
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert f"`{name}" in page
    missing = {flag for flag in flags(name) - _STANDARD if not re.search(rf"{re.escape(flag)}\b", page)}
    assert missing == set()


def test_the_reference_has_no_option_too_many() -> None:
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    general = {flag for option in main.params for flag in option.opts}
    known = {flag for name in COMMANDS for flag in flags(name)} | general | _STANDARD
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page)) - known == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_links_lead_somewhere(page: Path) -> None:
    targets = [m["target"] for m in _LINK.finditer(page.read_text(encoding="utf-8")) if "://" not in m["target"]]
    assert [t for t in targets if not (page.parent / t).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_python_is_python(page: Path) -> None:
    for text in blocks(page, "python"):
        compile(text if not text.startswith(" ") else f"if True:\n{text}", str(page), "exec")


def test_the_python_that_is_shown_runs(tmp_path: Path) -> None:
    """In one process, since torch is slow to import; before each page stand the names that it takes for granted."""
    parts = [text for page, before in RUNNABLE.items() for text in (before, *blocks(DOCS / page, "python"))]
    script = tmp_path / "shown.py"
    script.write_text("\n\n".join(parts), encoding="utf-8")
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_public_name_is_in_the_reference() -> None:
    import torchmedic

    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    assert [name for name in torchmedic._HOME if f"`{name}(" not in page and f"`{name}`" not in page] == []


def test_the_json_page_has_every_key_of_the_schema() -> None:
    schema = json.loads((ROOT / "src" / "torchmedic" / "render" / "schema-1.json").read_text(encoding="utf-8"))
    parts = [schema, *schema["$defs"].values()]
    keys = {key for part in parts for key in part.get("properties", {})}
    page = (DOCS / "reference" / "json.md").read_text(encoding="utf-8")
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []


def test_the_schema_knows_every_family() -> None:
    schema = json.loads((ROOT / "src" / "torchmedic" / "render" / "schema-1.json").read_text(encoding="utf-8"))
    diagnosis = schema["$defs"]["diagnosis"]["properties"]
    assert set(diagnosis["family"]["enum"]) == set(FAMILIES.values())
    assert all(re.match(diagnosis["code"]["pattern"], f"{prefix}001") for prefix in FAMILIES)


def test_the_table_of_layers_is_that_of_the_law() -> None:
    page = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (`.*|nothing of torchmedic) \|$", page, re.MULTILINE)
    assert len(rows) > 10
    shown = {unit: set(re.findall(r"`([\w.]+)`", allowed)) for unit, allowed in rows}
    assert shown == {unit: set(MAY_IMPORT[unit] - BASICS) for unit in shown}


def test_every_page_can_be_found() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    pages = [str(page.relative_to(DOCS)) for page in PAGES if page.name != "README.md"]
    assert [page for page in pages if f"]({page})" not in index] == []


@pytest.mark.parametrize("page", READMES)
def test_the_counts_of_causes_are_those_of_the_catalogue(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(re.findall(r"^\| \w+ \| [A-Z]{3} \| \d+ \|", text, re.MULTILINE)) == len(FAMILIES)
    assert counted(text, catalogue()) == text, "`make docs` writes them"
