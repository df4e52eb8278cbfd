"""A `view` or `reshape` to a shape with another number of values, or across strides."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import (
    also,
    crash_in,
    described,
    quoted,
    said,
    shape,
    tensors,
    tensors_on_line,
    user_line,
)
from torchmedic.rules.errors._syntax import Code

_SIZE = r"shape '\[([-\d, ]*)\]' is invalid for input of size (\d+)"
_STRIDE = r"view size is not compatible with input tensor's size and stride"


class ImpossibleReshape(Rule):
    """The values of a tensor do not fill the shape that was asked for."""

    code = "ERR005"
    name = "impossible-reshape"
    symptoms = (Symptom.CRASH,)
    tell_apart = (
        "the message says that a shape is invalid for an input of some size, or that a view needs other strides"
    )
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        if crash is None or line is None:
            return
        mentioned = tensors_on_line(run, crash.user_frame)
        if said(crash, _STRIDE) is not None:
            yield self._across_strides(line, mentioned)
            return
        match = said(crash, _SIZE)
        if match is None:
            return
        asked = tuple(int(n) for n in match[1].split(",") if n.strip())
        size = int(match[2])
        fitting = [(n, t) for n, t in [*mentioned, *tensors(crash.user_frame)] if t.numel == size]
        name, tensor = fitting[0] if fitting else ("the tensor", None)
        yield self._too_many(run, line, name, tensor, asked, size)

    def _too_many(
        self, run: Run, line: Location, name: str, tensor: TensorSummary | None, asked: tuple[int, ...], size: int
    ) -> Diagnosis:
        known = math.prod(n for n in asked if n != -1)
        left = size % known if known else size
        need = f"a multiple of {known}" if -1 in asked else str(known)
        bound = Code.of(run).last_assignment(name.partition("[")[0], line) if tensor is not None else None
        form = f" {shape(tensor.shape)}" if tensor is not None else ""
        return self.diagnose(
            headline=f"{quoted(name)}{form} has {size} values and cannot become {shape(asked)}",
            confidence="proven",
            where=line,
            also=also(
                (bound.location if bound and bound.how != "argument" else None, f"`{name}` comes from here"), but=line
            ),
            culprit=Culprit(tensor=name, phase="forward", op="view"),
            evidence=(
                f"the shape asked for needs {need} values, {size} are there"
                + (f": {left} are left over" if -1 in asked else ""),
            ),
            remedies=(_cure(tensor, asked, size),),
        )

    def _across_strides(self, line: Location, mentioned: list[tuple[str, TensorSummary]]) -> Diagnosis:
        name = mentioned[0][0] if mentioned else "the tensor"
        return self.diagnose(
            headline=f"`view` cannot merge dimensions of {quoted(name)} that do not lie side by side in memory",
            confidence="proven",
            where=line,
            mark=".view" if ".view" in line.source else "",
            culprit=Culprit(tensor=name, phase="forward", op="view"),
            evidence=(
                *([described(mentioned)] if mentioned else []),
                "`transpose`, `permute` or slicing changed the order of memory before",
            ),
            remedies=(Remedy(title="use `.reshape(…)`, which copies where it must", diff=_diff(line)),),
        )


def _diff(line: Location) -> str | None:
    source = line.source.split("  #")[0].strip()
    return f"- {source}\n+ {re.sub(r'[.]view[(]', '.reshape(', source)}" if ".view(" in source else None


def _cure(tensor: TensorSummary | None, asked: tuple[int, ...], size: int) -> Remedy:
    if tensor is not None and len(tensor.shape) > 2 and len(asked) == 2:
        flat = size // tensor.shape[0] if tensor.shape[0] else 0
        return Remedy(
            title=f"keep the batch dimension and let torch count: `.flatten(1)` gives {shape((tensor.shape[0], flat))}",
            detail=f"the next layer then takes {flat} features",
        )
    if -1 not in asked and len(asked) > 1 and asked[0] and size % math.prod(asked[1:]) == 0:
        rest = ", ".join(map(str, asked[1:]))
        return Remedy(
            title=f"let torch count the first dimension: `(-1, {rest})` gives {size // math.prod(asked[1:])} there",
            detail="a fixed batch size fails on a smaller last batch",
        )
    return Remedy(title=f"ask for a shape whose sizes multiply to {size}, with -1 where torch should count")
