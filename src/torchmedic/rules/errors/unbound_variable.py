"""A local variable that was read before anything set it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code, header

_WORDS = (
    r"cannot access local variable '(?P<name>\w+)'",
    r"local variable '(?P<name>\w+)' referenced before assignment",
)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)


class UnboundVariable(Rule):
    """The lines that set the variable stand in a loop or a branch that did not run."""

    code = "ERR063"
    name = "unbound-variable"
    symptoms = (Symptom.CRASH,)
    tell_apart = "UnboundLocalError"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, *_WORDS)
        where = user_line(crash) if crash is not None else None
        if crash is None or found is None or where is None:
            return
        name = found.group("name")
        code = Code.of(run)
        set_at = [a for a in code.assignments(name, where) if a.how != "argument"]
        first = set_at[0].location if set_at else None
        around = _around(code, first, where) if first is not None else None
        why = _why(around, first, where)
        yield self.diagnose(
            headline=f"`{name}` is read before it has a value: {why}"
            if why
            else f"`{name}` is read before it has a value",
            confidence="proven",
            where=where,
            mark=name,
            also=also((first, f"`{name}` is set only here"), but=where),
            culprit=Culprit(tensor=name),
            evidence=tuple(_evidence(around, name, first, where)),
            remedies=tuple(_remedies(around, name, first, where)),
        )


def _around(code: Code, place: Location, reader: Location) -> ast.stmt | None:
    """The outermost loop or branch around the assignment that is not around the reader as well."""
    scope = code.scope(place)
    blocks = [
        n
        for n in (ast.walk(scope) if scope is not None else ())
        if isinstance(n, (*_LOOPS, ast.If, ast.Try, ast.With))
        and n.lineno <= place.line <= (n.end_lineno or 0)
        and not n.lineno <= reader.line <= (n.end_lineno or 0)
    ]
    return min(blocks, key=lambda n: n.lineno, default=None)


def _why(around: ast.stmt | None, first: Location | None, where: Location) -> str:
    if isinstance(around, _LOOPS):
        return f"the loop on line {around.lineno} did not run once"
    if around is not None:
        return f"the branch on line {around.lineno} was not taken"
    if first is not None and first.line >= where.line:
        return "it is set further below"
    return ""


def _evidence(around: ast.stmt | None, name: str, first: Location | None, where: Location) -> Iterator[str]:
    parts = [ast.unparse(part) for part in header(around) if isinstance(part, ast.expr)] if around is not None else []
    if parts:
        yield f"the loop goes over `{parts[0]}`" if isinstance(around, ast.For) else f"its condition is `{parts[0]}`"
    elif first is not None and first.line >= where.line:
        yield f"an assignment anywhere in a function makes `{name}` local to it, even if a global has the same name"


def _remedies(around: ast.stmt | None, name: str, first: Location | None, where: Location) -> Iterator[Remedy]:
    if isinstance(around, _LOOPS):
        yield Remedy(title="find out why there was nothing to loop over (an empty loader, `drop_last`, an empty range)")
        yield Remedy(title=f"and give `{name}` a value before the loop")
    elif around is not None:
        yield Remedy(title=f"give `{name}` a value before the branch, or in an `else`")
    elif first is not None and first.line >= where.line:
        yield Remedy(title=f"use another name, pass `{name}` as an argument, or declare `global {name}`")
    else:
        yield Remedy(
            title=f"look at the lines that set `{name}`: a loop that made no round, a branch not taken",
            detail="a loader is empty too where `drop_last` leaves out its only batch",
        )
        yield Remedy(title=f"give `{name}` a value before them")
