"""A class used where an instance of it belongs: `ToTensor` without its parentheses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run, Value
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, user_line
from torchmedic.rules.errors._syntax import Code, dotted


class ClassNotInstantiated(Rule):
    """A class object sat in a variable or a list and was called like an instance."""

    code = "ERR045"
    name = "class-not-instantiated"
    symptoms = (Symptom.CRASH,)
    tell_apart = "TypeError or AttributeError about a class whose name stands without parentheses in the script"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or crash.type_name not in ("TypeError", "AttributeError", "RuntimeError", "ValueError"):
            return
        code = Code.of(run)
        for held in _called_classes(crash):
            bare = _bare(code, held.text.rpartition(".")[2])
            if bare is None:
                continue
            name, place = bare
            showed = user_line(crash)
            yield self.diagnose(
                headline=f"`{name}` is passed as a class, not as an instance",
                confidence="proven",
                where=place,
                mark=name,
                label="no parentheses",
                also=also((showed, "the class is called here and makes a new object instead"), but=place),
                culprit=Culprit(module=held.text, phase="setup"),
                evidence=(
                    f"`{held.name}` holds the class `{held.text}`: calling it runs `{held.text}.__init__`, "
                    "not the work of an instance",
                ),
                remedies=(Remedy(title=f"write `{name}()`"),),
            )
            return


def _called_classes(crash: Crash) -> Iterator[Value]:
    """Variables that hold a class and are called on the line where their frame stands."""
    for frame in reversed(crash.frames):
        for value in frame.values:
            called = re.search(rf"\b{re.escape(value.name)}\(", frame.location.source)
            if value.type.startswith("class ") and called and value.name != value.text and value.name != "cls":
                yield value


def _bare(code: Code, name: str) -> tuple[str, Location] | None:
    """The one mention of the class as a value: an item of a list, an argument, the right side of `=`."""
    found: list[tuple[str, Location]] = []
    for file, tree in code.trees.items():
        for node in ast.walk(tree):
            for value in _values(node):
                if isinstance(value, (ast.Name, ast.Attribute)) and dotted(value).rpartition(".")[2] == name:
                    found.append((dotted(value), code.place(file, value)))
    return found[0] if len({place.line for _, place in found}) == 1 else None


def _values(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, (ast.List, ast.Tuple)):
        return node.elts
    if isinstance(node, ast.Call):
        return (
            [*node.args, *(k.value for k in node.keywords)] if dotted(node.func) not in ("isinstance", "super") else []
        )
    if isinstance(node, ast.Assign):
        return [node.value]
    return []
