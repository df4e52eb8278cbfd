"""The catalogue: every rule is one file in a family's folder, found by walking the package."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import pkgutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import resources
from types import ModuleType
from typing import Any

from torchmedic.findings import FAMILIES, Rule

INDEX = "index.json"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What the catalogue says of a rule, where the rule itself is not needed."""

    code: str
    name: str
    family: str
    severity: str
    status: str
    symptoms: tuple[str, ...]
    tell_apart: str

    @classmethod
    def of(cls, rule: Rule) -> Entry:
        return cls(
            code=rule.code,
            name=rule.name,
            family=rule.family,
            severity=rule.severity,
            status=rule.status,
            symptoms=tuple(symptom.value for symptom in rule.symptoms),
            tell_apart=rule.tell_apart,
        )


def entries() -> tuple[Entry, ...]:
    """The whole catalogue by code, from the file that `make docs` writes: no rule has to be imported for a list."""
    return tuple(Entry(**{**entry, "symptoms": tuple(entry["symptoms"])}) for entry, _ in _written())


@functools.cache
def asked_of(*facts: str) -> tuple[Rule, ...]:
    """The rules that need no facts but these, by code: who has no others must not wait for the whole catalogue."""
    found = (_load(entry["family"], entry["name"]) for entry, needs in _written() if needs <= set(facts))
    return tuple(rule for rule in found if rule is not None)


def index_of(rules: tuple[Rule, ...]) -> str:
    """The catalogue as it is kept in the file: its entries, and which facts each rule needs."""
    written = [asdict(Entry.of(rule)) | {"needs": [fact.kind for fact in rule.needs]} for rule in rules]
    return json.dumps(written, indent=1) + "\n"


def _written() -> Iterator[tuple[dict[str, Any], set[str]]]:
    for entry in json.loads((resources.files(__name__) / INDEX).read_text(encoding="utf-8")):
        needs = set(entry.pop("needs"))
        yield entry, needs


@functools.cache
def catalogue() -> tuple[Rule, ...]:
    """One instance of every rule, by code."""
    found = (_rule_in(module) for module in _rule_modules())
    return tuple(sorted(found, key=lambda rule: rule.code))


def by_code(code: str) -> Rule | None:
    """The rule of a code or a name, in any case; of a code that it had before it moved, too.

    >>> by_code("no-such-rule") is None
    True
    """
    wanted = code.strip().lower()
    lines = (resources.files(__name__) / "codes.txt").read_text(encoding="utf-8").splitlines()
    # `WIR092 bypassed-wrapper was RNK009`: the last code of a name is the one it goes by.
    current = {line.split()[1]: line.split()[0] for line in lines}
    name = next((line.split()[1] for line in lines if wanted in line.lower().split()[:2]), "")
    return _load(FAMILIES[current[name][:3]], name) if name else None


def _load(family: str, name: str) -> Rule | None:
    """One rule without the others: a page must not wait for the whole catalogue. None for a retired code."""
    module = f"{__name__}.{family}.{name.replace('-', '_')}"
    return _rule_in(importlib.import_module(module)) if importlib.util.find_spec(module) else None


def page(rule: Rule) -> str:
    """The rule's page in Markdown, as `explain` and the reports show it."""
    folder = resources.files(f"torchmedic.rules.{rule.family}")
    return (folder / f"{rule.name.replace('-', '_')}.md").read_text(encoding="utf-8")


def _rule_modules() -> Iterator[ModuleType]:
    for family in pkgutil.iter_modules(__path__, "torchmedic.rules."):
        if not family.ispkg:
            continue
        package = importlib.import_module(family.name)
        for entry in pkgutil.iter_modules(package.__path__, family.name + "."):
            if not entry.name.rpartition(".")[2].startswith("_"):
                yield importlib.import_module(entry.name)


def _rule_in(module: ModuleType) -> Rule:
    rules = [
        thing
        for thing in vars(module).values()
        if isinstance(thing, type) and issubclass(thing, Rule) and thing.__module__ == module.__name__
    ]
    if len(rules) != 1:
        raise TypeError(f"{module.__name__} must define exactly one rule, found {len(rules)}")
    return rules[0]()
