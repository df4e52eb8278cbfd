"""A layer that splits one of its sizes into equal parts, where it cannot be split."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._following import constants_behind
from torchmedic.rules.errors._reading import also, crash_in, quoted, said, short_type, user_line
from torchmedic.rules.errors._syntax import Code

_MESSAGE = r"(\w+) must be divisible by (\w+)"


class IndivisibleSizes(Rule):
    """Heads of attention, groups of a convolution or a norm: the parts must come out even."""

    code = "ERR066"
    name = "indivisible-sizes"
    symptoms = (Symptom.CRASH,)
    tell_apart = "a layer's constructor says that one number must be divisible by another"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, _MESSAGE)
        line = user_line(crash) if crash is not None else None
        sizes = _sizes(crash, match[1], match[2]) if crash is not None and match is not None else None
        if crash is None or match is None or line is None or sizes is None:
            return
        whole, parts = sizes
        size, share = match[1], match[2]
        layer = next((f.module for f in reversed(crash.frames) if f.module is not None and not f.is_user), None)
        kind = short_type(layer.type) if layer is not None else "the layer"
        written = _written(Code.of(run), line, whole)
        where = written or line
        yield self.diagnose(
            headline=f"{quoted(kind)} cannot split `{size}` {whole} into `{share}` {parts}: {whole % parts} is left",
            confidence="proven",
            where=where,
            label=f"`{size}` is {whole}",
            also=also((line, "the layer is built here"), but=where),
            culprit=Culprit(module=kind, phase="setup", field=size),
            evidence=(f"{whole} / {parts} = {whole / parts:g}: every part has to have the same whole size",),
            remedies=(
                Remedy(title=f"take {whole - whole % parts or parts} or {whole + parts - whole % parts} instead"),
                Remedy(title=f"or `{share}` of {_nearest_divisor(whole, parts)}"),
            ),
        )


def _sizes(crash: Crash, whole: str, parts: str) -> tuple[int, int] | None:
    """The two numbers, from the constructor that compared them."""
    for frame in reversed(crash.frames):
        found = [v.text for n in (whole, parts) if (v := frame.value(n)) is not None and v.text.isdigit()]
        if len(found) == 2 and int(found[1]) > 0:
            return int(found[0]), int(found[1])
    return None


def _written(code: Code, line: Location, size: int) -> Location | None:
    """The one place that gives the size, among what is behind the arguments of the line."""
    arguments = [
        argument
        for statement in code.statements(line)
        for call in ast.walk(statement)
        if isinstance(call, ast.Call)
        for argument in (*call.args, *(k.value for k in call.keywords))
    ]
    found = [at for a in arguments for at, value in constants_behind(code, a, line) if value == size]
    lines = {(at.file, at.line): at for at in found}
    return next(iter(lines.values())) if len(lines) == 1 else None


def _nearest_divisor(whole: int, parts: int) -> int:
    """
    >>> _nearest_divisor(100, 8)
    10
    """
    divisors = [n for n in range(1, math.isqrt(whole) + 1) if whole % n == 0]
    every = sorted({*divisors, *(whole // n for n in divisors)})
    return min(every, key=lambda n: (abs(n - parts), -n))
