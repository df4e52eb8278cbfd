"""Tensors that should have one row for each sample, and have different numbers of rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, tensors, user_line
from torchmedic.rules.errors._syntax import Code, dotted, dotted_names

_TENSORS = r"Size mismatch between tensors"
_ARRAYS = r"Found input variables with inconsistent numbers of samples: \[(?P<rows>[\d, ]+)\]"
_JOINING = ("TensorDataset", "StackDataset", "fit", "train_test_split")


class TensorsOfOtherLengths(Rule):
    """A data set of several tensors, or an estimator, was given different numbers of samples."""

    code = "ERR278"
    name = "tensors-of-other-lengths"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`Size mismatch between tensors`, or `inconsistent numbers of samples`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        if crash is None or line is None or said(crash, _TENSORS, _ARRAYS) is None:
            return
        code = Code.of(run)
        rows = _rows(code, crash, line)
        told = " and ".join(f"`{name}` {count:,}" for name, count in rows)
        split = _wrong_order(code, line, [name for name, _ in rows])
        if split is not None:
            place, parts = split
            yield self._unpacked(line, place, parts, told)
            return
        made = [code.last_assignment(name, line) for name, _ in rows]
        yield self.diagnose(
            headline=f"these have different numbers of rows: {told}" if told else "the tensors differ in their rows",
            confidence="proven",
            where=line,
            also=also(
                *((m.location, f"`{n}` is made here") for m, (n, _) in zip(made, rows, strict=True) if m is not None),
                but=line,
            )[:2],
            culprit=Culprit(tensor=rows[0][0] if rows else None, phase="data"),
            evidence=("row i of each is sample i, so all need the same number of rows",),
            remedies=(Remedy(title="filter, cut and shuffle them together, or before they are taken apart"),),
        )

    def _unpacked(self, line: Location, place: Location, parts: list[str], told: str) -> Diagnosis:
        count = len(parts) // 2
        right = [parts[at + half * count] for at in range(count) for half in range(2)]
        return self.diagnose(
            headline=f"`train_test_split` hands out its parts in another order: {told}",
            confidence="proven",
            where=place,
            label="it returns both parts of the first array, then both parts of the second",
            also=also((line, "joined here"), but=place),
            culprit=Culprit(tensor=parts[1], phase="data"),
            evidence=(f"`{parts[0]}` and `{parts[1]}` are the two parts of one array here",),
            remedies=(Remedy(title=f"write `{', '.join(right)} = train_test_split(…)`"),),
        )


def _rows(code: Code, crash: Crash, line: Location) -> list[tuple[str, int]]:
    """The rows of what a line joins, under the names that stand in its call."""
    found = next((f for f in reversed(crash.frames) if f.is_user and f.location.line == line.line), None)
    lengths = {name: tensor.shape[0] for name, tensor in tensors(found) if tensor.shape}
    for node in (n for statement in code.statements(line) for n in ast.walk(statement)):
        if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in (
            *_JOINING,
            "fit",
            "train_test_split",
        ):
            named = [name for part in node.args for name in dotted_names([part]) if name in lengths]
            return [(name, lengths[name]) for name in dict.fromkeys(named)]
    return []


def _wrong_order(code: Code, line: Location, names: list[str]) -> tuple[Location, list[str]] | None:
    """The unpacking of `train_test_split` that gave the two parts of one array to names of two arrays."""
    for name in names:
        bound = code.last_assignment(name, line)
        targets = getattr(bound.node, "targets", []) if bound is not None else []
        value = bound.value if bound is not None else None
        is_split = isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] == "train_test_split"
        if bound is None or not is_split or not targets or not isinstance(targets[0], ast.Tuple):
            continue
        parts = [ast.unparse(target) for target in targets[0].elts]
        pairs = list(zip(parts[::2], parts[1::2], strict=False))
        if len(parts) % 2 == 0 and len(names) == 2 and tuple(names) in pairs:
            return bound.location, parts
    return None
