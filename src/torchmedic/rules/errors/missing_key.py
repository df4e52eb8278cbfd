"""A key or column that is not there, with the ones that are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, MissingKey, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, user_line
from torchmedic.rules.errors._syntax import Code

_MOST_SHOWN = 12


_MERGE = Remedy(
    title="merge the inner dictionaries too: `cfg[key] = {**cfg[key], **new[key]}`",
    detail="`update`, `|` and `{**a, **b}` put the new inner dictionary in the place of the old one",
)


class MissingKeyRule(Rule):
    """A KeyError whose container was alive and could be asked for its keys."""

    code = "ERR040"
    name = "missing-key"
    symptoms = (Symptom.CRASH,)
    tell_apart = "KeyError on a subscript of a dict, a batch, a ModuleDict or a table"
    needs = (Crash, MissingKey)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        seen = run.last(MissingKey)
        if crash is None or seen is None or crash.type_name != "KeyError":
            return
        showed = user_line(crash)
        merged = _shallow_merge(Code.of(run), seen)
        yield self.diagnose(
            headline=f"`{seen.container}` has no {_what(seen)} `{seen.key}`" + _nearest(seen),
            confidence="proven" if merged is None else "likely",
            where=merged or showed,
            mark=_written(seen, merged or showed),
            label="the inner dictionary is replaced here, not merged" if merged is not None else "",
            also=also((showed if merged is not None else None, "the key is asked for here")),
            culprit=Culprit(field=f"{seen.container}[{seen.key}]", phase="data", examples=seen.near),
            evidence=tuple(_evidence(seen)),
            remedies=tuple(_remedies(seen)) if merged is None else (_MERGE,),
        )


def _shallow_merge(code: Code, seen: MissingKey) -> Location | None:
    """The one line that lays a dictionary over another, where the lower one had the key in an inner dictionary."""
    outer = [n for tree in code.trees.values() for n in ast.walk(tree) if isinstance(n, ast.Dict)]
    inner = [v for d in outer for v in d.values if isinstance(v, ast.Dict)]
    lower = any(seen.key in _spelt(d) and set(_spelt(d)) & set(seen.keys) for d in inner)
    upper = any(set(_spelt(d)) == set(seen.keys) and seen.key not in _spelt(d) for d in inner)
    merges = [place for place, call in code.calls("update") if len(call.args) == 1]
    merges += [
        code.place(file, node)
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict) and sum(key is None for key in node.keys) > 1
    ]
    return merges[0] if lower and upper and len(merges) == 1 else None


def _spelt(literal: ast.Dict) -> list[str]:
    return [repr(key.value) for key in literal.keys if isinstance(key, ast.Constant)]


def _written(seen: MissingKey, where: Location | None) -> str:
    """The subscript as the line spells it, with either kind of quotes."""
    spellings = (f"{seen.container}[{key}]" for key in (seen.key, seen.key.replace("'", '"')))
    return next((s for s in spellings if where is not None and s in where.source), "")


def _what(seen: MissingKey) -> str:
    return "column" if seen.type.endswith("DataFrame") else "key"


def _nearest(seen: MissingKey) -> str:
    return f", the nearest is `{seen.near[0]}`" if seen.near and not seen.same_as_text else ""


def _evidence(seen: MissingKey) -> Iterator[str]:
    shown = ", ".join(seen.keys[:_MOST_SHOWN]) + (", …" if seen.count > _MOST_SHOWN else "")
    yield (
        f"`{seen.container}` is a `{seen.type}` with {seen.count} {_what(seen)}s: {shown}"
        if seen.count
        else (f"`{seen.container}` is an empty `{seen.type}`")
    )
    if seen.same_as_text:
        yield f"the key is a {seen.key_type}; one of another type that reads the same is there"


def _remedies(seen: MissingKey) -> Iterator[Remedy]:
    if seen.same_as_text:
        other = "int" if seen.key_type == "str" else "str"
        yield Remedy(title=f"look it up as {other}: `{seen.container}[{other}(…)]`")
    elif seen.near:
        yield Remedy(title=f"write `{seen.container}[{seen.near[0]}]`")
    else:
        yield Remedy(title=f"use one of these {_what(seen)}s, or put `{seen.key}` in where `{seen.container}` is made")
