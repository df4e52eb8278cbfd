"""Reads what the user wrote for a training framework: calls of its classes, their arguments, and subclasses."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchmedic.facts import Crash, Location, Run
from torchmedic.rules.errors._reading import user_line
from torchmedic.rules.errors._syntax import Code, dotted


@dataclass(frozen=True)
class Written:
    """A call in the user's code: its place and its arguments as text; `args` of a Trainer may be a variable."""

    place: Location
    call: ast.Call

    def argument(self, name: str) -> str:
        found = next((k.value for k in self.call.keywords if k.arg == name), None)
        return ast.unparse(found) if found is not None else ""

    def line_of(self, name: str, run: Run) -> Location:
        """The line that gives an argument, in a call over several lines."""
        given = next((k for k in self.call.keywords if k.arg == name), None)
        return Code.of(run).place(self.place.file, given.value) if given is not None else self.place


def written_call(run: Run, crash: Crash, *names: str) -> Written | None:
    """The last call of one of these classes, in the file of the crash before any other."""
    at = user_line(crash)
    found = [Written(place, call) for place, call in Code.of(run).calls(*names)]
    here = [w for w in found if at is not None and w.place.file == at.file]
    chosen = here or found
    return chosen[-1] if chosen else None


def subclass_of(run: Run, base: str) -> tuple[Location, ast.ClassDef] | None:
    """The user's class that derives from a framework's class; None where there are none or several."""
    code = Code.of(run)
    found = [
        (code.place(file, node), node)
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and any(dotted(b).rpartition(".")[2] == base for b in node.bases)
    ]
    return found[0] if len(found) == 1 else None


def methods_of(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}


def in_library(crash: Crash, *packages: str) -> bool:
    """Whether the exception was raised inside one of these packages."""
    last = crash.frames[-1].location.file.replace("\\", "/") if crash.frames else ""
    return any(f"/{package}/" in last for package in packages)
