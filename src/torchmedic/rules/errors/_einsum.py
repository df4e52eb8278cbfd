"""Reads a failed `einsum`: which letter stands for which size in which operand."""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass

from torchmedic.facts import Crash, Location, Run
from torchmedic.rules._code import receiver
from torchmedic.rules.errors._reading import said, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_TWO_SIZES = r"einsum\(\): subscript (\w) has size (\d+) for operand (\d+) which does not broadcast"


@dataclass(frozen=True)
class Turned:
    """An operand that fits with two of its dimensions exchanged, and the line that made it."""

    call: str
    first: int
    second: int
    sizes: tuple[int, ...]
    made: Location | None


@dataclass(frozen=True)
class Einsum:
    """The equation, `(name, letters, sizes)` of its operands, and the letter that has two sizes."""

    equation: str
    letter: str
    operands: tuple[tuple[str, str, tuple[int, ...]], ...]
    made: tuple[Location | None, ...] = ()

    @property
    def sizes(self) -> tuple[tuple[str, int], ...]:
        """The operands that have the letter, each with the size it gives it."""
        return tuple(
            (n, sizes[letters.index(self.letter)]) for n, letters, sizes in self.operands if self.letter in letters
        )

    def turned(self) -> Turned | None:
        """The one exchange of neighbouring dimensions of one operand after which every letter has one size."""
        found = []
        for at, (name, letters, sizes) in enumerate(self.operands):
            others = self.operands[:at] + self.operands[at + 1 :]
            known = {letter: size for _, word, of in others for letter, size in zip(word, of, strict=True)}
            for first, second in itertools.pairwise(range(len(sizes))):
                new = list(sizes)
                new[first], new[second] = new[second], new[first]
                if all(known.get(a, b) == b for a, b in zip(letters, new, strict=True)):
                    call = f"{receiver(name)}.transpose({first}, {second})"
                    found.append(Turned(call, first, second, tuple(new), self.made[at]))
        return found[0] if len(found) == 1 else None


def einsum_in(run: Run, crash: Crash) -> Einsum | None:
    """The failed `einsum` of a crash, where its frame shows the equation and all operands."""
    match, line = said(crash, _TWO_SIZES), user_line(crash)
    frame = next((f for f in reversed(crash.frames) if f.location.function == "einsum" and not f.is_user), None)
    equation = frame.value("equation") if frame is not None else None
    operands = frame.value("operands") if frame is not None else None
    if match is None or line is None or equation is None or operands is None:
        return None
    text = equation.text.strip("'\"").replace(" ", "")
    words = text.partition("->")[0].split(",")
    shapes = [item.tensor.shape for item in operands.items if item.tensor is not None]
    fits = len(words) == len(shapes) and all(len(w) == len(s) for w, s in zip(words, shapes, strict=True))
    if not fits:
        return None
    code = Code.of(run)
    names = _names(code, line, len(words))
    bound = [code.last_assignment(name, line) for name in names]
    made = tuple(a.location if a is not None and a.how == "assign" else None for a in bound)
    return Einsum(text, match[1], tuple(zip(names, words, shapes, strict=True)), made)


def _names(code: Code, line: Location, count: int) -> list[str]:
    """What the line gives `einsum` after the equation."""
    nodes = (n for statement in code.statements(line) for n in ast.walk(statement))
    calls = [n for n in nodes if isinstance(n, ast.Call) and dotted(n.func).rpartition(".")[2] == "einsum"]
    given = [ast.unparse(a) for a in calls[0].args[1:]] if len(calls) == 1 else []
    return given if len(given) == count else [f"operand {at}" for at in range(count)]
