"""A key or column that is not there, with the ones that are."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Location, MissingKey, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, user_line

_MOST_SHOWN = 12


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
        yield self.diagnose(
            headline=f"`{seen.container}` has no {_what(seen)} `{seen.key}`" + _nearest(seen),
            confidence="proven",
            where=user_line(crash),
            mark=_written(seen, user_line(crash)),
            culprit=Culprit(field=f"{seen.container}[{seen.key}]", phase="data", examples=seen.near),
            evidence=tuple(_evidence(seen)),
            remedies=tuple(_remedies(seen)),
        )


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
