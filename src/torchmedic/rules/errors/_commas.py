"""A comma at the end of an assignment, which makes a tuple of one of what is assigned."""

from __future__ import annotations

import ast

from torchmedic.facts import Location
from torchmedic.rules.errors._syntax import Assignment, Code


def trailing_comma(code: Code, line: Location) -> tuple[str, Location] | None:
    """The name on a line that an assignment with a comma behind it gave its value, and that assignment."""
    cls = line.function.rpartition(".")[0].rpartition(".")[2]
    for name in code.names(line):
        owner, _, attribute = name.rpartition(".")
        last = code.last_assignment(name, line)
        hung = [a for a in code.attribute_assignments(attribute, cls) if owner] if last is None else []
        for bound in [last] if last is not None else hung[:1]:
            if _ends_in_comma(code, bound):
                return name, bound.location
    return None


def _ends_in_comma(code: Code, bound: Assignment) -> bool:
    value, targets = bound.value, getattr(bound.node, "targets", [])
    if not isinstance(value, ast.Tuple) or len(value.elts) != 1 or any(isinstance(t, ast.Tuple) for t in targets):
        return False
    text = ast.get_source_segment(code.texts[bound.location.file], value) or "("
    return not text.startswith("(")


def without_comma(place: Location) -> str:
    """The change to a line that ends in a comma."""
    old = place.source.split("  #")[0].strip()
    return f"- {old}\n+ {old.rstrip(',').rstrip()}" if old.endswith(",") else ""
