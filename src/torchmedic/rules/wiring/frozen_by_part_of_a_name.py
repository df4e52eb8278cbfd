"""Blocks are frozen by a test such as `"blocks.1" in name`, which block 10 passes as well."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FrozenNumbers, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import counted


class FrozenByPartOfAName(Rule):
    """The numbers with two digits that are frozen are those, and all of those, that begin like a frozen single one."""

    code = "WIR125"
    name = "frozen-by-part-of-a-name"
    severity = "warning"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW)
    tell_apart = "blocks 1 and 10 are frozen, and 2 to 9 learn"
    needs = (FrozenNumbers,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(FrozenNumbers):
            caught = _caught(seen)
            if not caught:
                continue
            names = [f"`{seen.path}.{number}`" if seen.path else f"`{number}`" for number in caught]
            meant = next(n for n in seen.frozen if n < 10 and str(caught[0]).startswith(str(n)))
            yield self.diagnose(
                headline=f"{' and '.join(names[:2])} are frozen with `{seen.path}.{meant}`: its name is part of theirs"
                if len(names) > 1
                else f"{names[0]} is frozen with `{seen.path}.{meant}`, whose name is part of its own",
                confidence="likely",
                where=seen.where,
                label=f'"{meant}" is found in "{caught[0]}" too',
                culprit=Culprit(op="in", parameter=f"{seen.path}.{caught[0]}", phase="setup"),
                evidence=(
                    f"frozen: {_numbers(seen.frozen)}; learning: {_numbers(seen.trained)}",
                    f"{counted(len(caught), 'number')} of two digits, and all that begin like a frozen single one",
                ),
                remedies=(
                    Remedy(title='compare whole names: `name.startswith("blocks.1.")`, with the dot at the end'),
                ),
            )


def _caught(seen: FrozenNumbers) -> list[int]:
    """Frozen numbers of two digits, if exactly those are frozen that a test for single digits catches."""
    single = [n for n in seen.frozen if n < 10]
    double = sorted(n for n in seen.frozen if n >= 10)
    every = [n for n in (*seen.frozen, *seen.trained) if n >= 10]
    expected = sorted(n for n in every if int(str(n)[0]) in single)
    is_torn = bool(double) and any(max(single, default=10) < n < double[0] for n in seen.trained)
    return double if double == expected and is_torn else []


def _numbers(numbers: tuple[int, ...]) -> str:
    shown = ", ".join(str(n) for n in sorted(numbers)[:12])
    return shown + (", …" if len(numbers) > 12 else "")
