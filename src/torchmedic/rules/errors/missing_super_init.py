"""A module that uses `nn.Module` before `super().__init__()` has run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code

_WORDS = (
    r"cannot assign (?:module|parameter|buffer)s? before Module\.__init__\(\) call",
    r"cannot assign parameters before Module",
    r"object has no attribute '_(?:modules|parameters|buffers|forward_hooks|forward_pre_hooks|backward_hooks)'",
)


class MissingSuperInit(Rule):
    """`nn.Module.__init__` was not called, or called too late."""

    code = "ERR042"
    name = "missing-super-init"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`cannot assign module before Module.__init__() call`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or not said(crash, *_WORDS):
            return
        showed = user_line(crash)
        if showed is None:
            return
        code = Code.of(run)
        cls, start, late = _constructor(code, showed)
        where = late or start or showed
        yield self.diagnose(
            headline=f"`{cls}` sets a layer before `super().__init__()`"
            + (" is called" if late else ", which it never calls"),
            confidence="proven",
            where=where,
            label="comes too late" if late else "the first thing it must do is missing",
            also=also((showed, "fails here"), but=where),
            culprit=Culprit(module=cls, phase="setup"),
            evidence=("`nn.Module.__init__` makes the tables in which layers and parameters are kept",),
            remedies=(
                Remedy(
                    title="move `super().__init__()` to the first line of `__init__`"
                    if late
                    else "call it on the first line of `__init__`",
                    diff=None if late else "+         super().__init__()",
                ),
            ),
        )


def _constructor(code: Code, showed: Location) -> tuple[str, Location | None, Location | None]:
    """The class, the `def __init__` line, and a `super().__init__()` that stands too low."""
    scopes = code.scopes(showed.file, showed.line)
    cls = next((s for s in reversed(scopes) if isinstance(s, ast.ClassDef)), None)
    function = next((s for s in reversed(scopes) if isinstance(s, ast.FunctionDef)), None)
    if function is None:
        return (cls.name if cls is not None else "the module"), None, None
    calls = [n for n in ast.walk(function) if isinstance(n, ast.Call) and ast.unparse(n.func).endswith(".__init__")]
    below = [n for n in calls if n.lineno > showed.line]
    name = cls.name if cls is not None else showed.function.partition(".")[0]
    return name, code.place(showed.file, function), code.place(showed.file, below[0]) if below else None
