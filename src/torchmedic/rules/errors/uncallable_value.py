"""Something called that cannot be called: a ModuleList, a list of layers, a size, a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._commas import trailing_comma, without_comma
from torchmedic.rules.errors._reading import also, crash_in, said, short_type, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_CONTAINERS = ("ModuleList", "ModuleDict", "ParameterList", "ParameterDict")


class UncallableValue(Rule):
    """A call of an object that has no call."""

    code = "ERR047"
    name = "uncallable-value"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`'…' object is not callable`, or `Module [ModuleList] is missing the required \"forward\" function`"
    needs = (Crash,)
    folds = ("misspelled-forward",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(
            crash,
            r"'(?P<type>[\w.]+)' object is not callable",
            rf"Module \[(?P<type>{'|'.join(_CONTAINERS)})\] is missing the required",
        )
        where = user_line(crash) if crash is not None else None
        if crash is None or found is None or where is None:
            return
        kind = short_type(found.group("type"))
        code = Code.of(run)
        comma = trailing_comma(code, where) if kind == "tuple" else None
        if comma is not None:
            yield self._with_comma(where, *comma)
            return
        name = _called(code, where, kind)
        made = _made(code, name, where)
        yield self.diagnose(
            headline=f"`{name}` is a `{kind}`, which cannot be called" if name else f"a `{kind}` was called",
            confidence="proven",
            where=where,
            mark=f"{name}(" if name else "",
            also=also((made, f"`{name}` becomes a `{kind}` here"), but=where),
            culprit=Culprit(module=name or kind),
            evidence=tuple(_evidence(kind)),
            remedies=(Remedy(title=_cure(kind, name)),),
        )

    def _with_comma(self, where: Location, name: str, made: Location) -> Diagnosis:
        return self.diagnose(
            headline=f"`{name}` is a tuple of one: its assignment ends in a comma",
            confidence="proven",
            where=made,
            label="the comma makes the tuple",
            also=also((where, "called here"), but=made),
            culprit=Culprit(module=name, phase="setup"),
            remedies=(Remedy(title="drop the comma at the end of the line", diff=without_comma(made)),),
        )


def _called(code: Code, where: Location, kind: str) -> str:
    """The name in front of the parentheses: the only call of the line, or the one that fits the type."""
    statement = code.statement(where)
    calls = [n for n in (ast.walk(statement) if statement is not None else ()) if isinstance(n, ast.Call)]
    names = [dotted(c.func) for c in calls if dotted(c.func)]
    if kind == "Size":
        names = [n for n in names if n.endswith("shape")]
    subscripted = [ast.unparse(c.func) for c in calls if isinstance(c.func, (ast.Subscript, ast.Call))]
    candidates = subscripted or names
    return candidates[0] if len(candidates) == 1 else ""


def _made(code: Code, name: str, where: Location) -> Location | None:
    if not name or not name.replace(".", "").replace("_", "").isalnum():
        return None
    if "." in name:
        set_at = code.attribute_assignments(name.rpartition(".")[2])
        return set_at[0].location if set_at else None
    found = code.last_assignment(name, where)
    return found.location if found is not None else None


def _evidence(kind: str) -> Iterator[str]:
    if kind in _CONTAINERS:
        yield f"`nn.{kind}` only holds its members: it has no `forward` and no order of its own"
    elif kind == "Size":
        yield "`shape` is an attribute, a tuple of sizes; `size` is the method"
    elif kind == "Tensor":
        yield "a tensor is indexed with brackets; parentheses call a function"


def _cure(kind: str, name: str) -> str:
    said_name = name or "it"
    if kind in ("ModuleList", "list", "tuple"):
        return f"call the members in turn: `for layer in {said_name}: x = layer(x)`, or make it an `nn.Sequential`"
    if kind in _CONTAINERS:
        return f"call one member: `{said_name}[key](x)`"
    if kind == "Size":
        return "write `shape[0]` with brackets, or `size(0)`"
    if kind in ("Tensor", "Parameter", "ndarray", "dict"):
        return f"use brackets to index: `{said_name}[…]`; or look for a `*` missing before the parenthesis"
    return f"look where `{said_name}` was given a value of type `{kind}`: a variable may hide a function of that name"
