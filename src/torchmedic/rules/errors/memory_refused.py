"""The machine has no room for what a line asks for: often a table with a row for every possible id."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._following import given_for
from torchmedic.rules.errors._numbers import number_worked_out
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code

_REFUSED = r"DefaultCPUAllocator: (?:can't allocate|not enough) memory: you tried to allocate (\d+) bytes"
_TABLES = ("Embedding", "EmbeddingBag")
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


class MemoryRefused(Rule):
    """An allocation on the host that the system refuses, and the number that made it so large."""

    code = "ERR276"
    name = "memory-refused"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message says that `DefaultCPUAllocator` cannot allocate memory"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, _REFUSED)
        line = user_line(crash) if crash is not None else None
        if crash is None or line is None or match is None:
            return
        wanted = amount(int(match[1]))
        kind, rows = _table(crash)
        code = Code.of(run)
        computed = _rows_worked_out(code, line, kind) if rows is not None else None
        where = computed or line
        by_largest = computed is not None and _is_by_largest(code, computed)
        yield self.diagnose(
            headline=f"`{kind}` of {rows} rows does not fit into memory: {wanted}"
            if rows is not None
            else f"the machine has no room for a tensor of {wanted}",
            confidence="proven",
            where=where,
            label=f"{rows} is worked out here" if computed is not None else f"asks for {wanted}",
            also=also((line, "refused here"), but=where),
            culprit=Culprit(op="allocation", tensor=kind or None),
            evidence=("the largest id decides how many rows there are, not how many ids there are",)
            if by_largest
            else (),
            remedies=tuple(_cures(is_table=rows is not None)),
        )


def amount(size: int) -> str:
    """Bytes as a person would say them.

    >>> amount(3 * 2**30), amount(4899916797209603648)
    ('3 GiB', '4.25 EiB')
    """
    power = min((size.bit_length() - 1) // 10, len(_UNITS) - 1)
    return f"{size / 1024**power:.3g} {_UNITS[power]}"


def _table(crash: Crash) -> tuple[str, int | None]:
    """The embedding that is being built, and its rows."""
    for frame in reversed(crash.frames):
        kind = frame.location.function.rpartition(".")[0]
        value = frame.value("num_embeddings")
        if kind in _TABLES and not frame.is_user and value is not None and value.text.isdigit():
            return kind, int(value.text)
    return "", None


def _rows_worked_out(code: Code, line: Location, kind: str) -> Location | None:
    calls = [call for at, call in code.calls(kind) if (at.file, at.line) == (line.file, line.line)]
    given = given_for(calls[0], "num_embeddings", 0) if len(calls) == 1 else None
    return number_worked_out(code, given, line) if given is not None else None


def _is_by_largest(code: Code, computed: Location) -> bool:
    """Whether the number of rows comes from a largest value."""
    statement = code.statement(computed)
    calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)] if statement is not None else []
    return any(ast.unparse(call.func).rpartition(".")[2] in ("max", "amax", "nanmax") for call in calls)


def _cures(*, is_table: bool) -> Iterator[Remedy]:
    if is_table:
        yield Remedy(title="number the ids without gaps, `pandas.factorize(ids)`, and build a row for each of them")
        yield Remedy(title="or hash them into a table of fixed size: `ids % rows`")
        return
    yield Remedy(title="look at the sizes that this line is given: one of them is far too large")
