"""A sequence without an element among those that are packed for a recurrent layer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, IndexOutside, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, said, sample_of, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_MESSAGE = r"Length of all samples has to be greater than 0"


class EmptySequence(Rule):
    """`pack_padded_sequence` was given a length of 0."""

    code = "ERR279"
    name = "empty-sequence"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`Length of all samples has to be greater than 0`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        if crash is None or line is None or said(crash, _MESSAGE) is None:
            return
        fact = next((f for f in run.all(IndexOutside) if f.what == "length"), None)
        name = _lengths(Code.of(run).statements(line))
        yield self.diagnose(
            headline=f"sequence {fact.position[0]} of the batch has length {fact.value}"
            if fact is not None
            else "a sequence of the batch has no element",
            confidence="proven",
            where=line,
            culprit=Culprit(tensor=name or "lengths", phase="forward", sample=fact.sample if fact else None),
            evidence=tuple(_evidence(fact)) if fact is not None else (),
            remedies=(
                Remedy(title="leave such samples out when the data set is built, after all cleaning of the text"),
                Remedy(title="or keep one token for them, such as an unknown word, where they are encoded"),
            ),
        )


def _lengths(statements: list[ast.stmt]) -> str:
    """What a line gives `pack_padded_sequence` as the lengths."""
    for node in (n for statement in statements for n in ast.walk(statement)):
        if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] == "pack_padded_sequence":
            given = [k.value for k in node.keywords if k.arg == "lengths"] or node.args[1:2]
            return dotted(given[0]) if given else ""
    return ""


def _evidence(fact: IndexOutside) -> Iterator[str]:
    yield f"{fact.count} of {fact.total} lengths are below 1, the longest is {fact.maximum}"
    yield from sample_of(fact)
