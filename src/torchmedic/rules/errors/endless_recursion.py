"""A function that calls itself without end: a `forward` that calls its own module, a property that asks for itself."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Frame, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in

_MOST_LINES = 6
_LEAST_ROUNDS = 3


class EndlessRecursion(Rule):
    """The same lines of the user's call each other again and again."""

    code = "ERR105"
    name = "endless-recursion"
    symptoms = (Symptom.CRASH,)
    tell_apart = "RecursionError: maximum recursion depth exceeded"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or crash.type_name != "RecursionError":
            return
        circle = _circle([frame for frame in crash.frames if frame.is_user])
        if not circle:
            if crash.source == "text":
                yield self._untold()
            return
        where = circle[0].location
        function = where.function.rpartition(".")[2]
        names = " → ".join(dict.fromkeys(frame.location.function or str(frame.location) for frame in circle))
        yield self.diagnose(
            headline=_together(circle),
            confidence="proven",
            where=where,
            label="this call comes back to the same line",
            also=also(*((frame.location, "and this one") for frame in circle[1:3]), but=where),
            culprit=Culprit(module=where.function),
            evidence=(f"the traceback repeats {names}",) if len(circle) > 1 else (),
            remedies=(_cure(function, where),),
        )

    def _untold(self) -> Diagnosis:
        """The end of a traceback alone: which lines call each other stands above what was pasted."""
        return self.diagnose(
            headline="a function calls itself, or two call each other, without end",
            confidence="likely",
            evidence=("`[Previous line repeated … more times]` stands below the line that does it",),
            remedies=(
                Remedy(
                    title="look for a `forward` that calls `self(x)`, a property or `__getattr__` that asks for itself"
                ),
                Remedy(title="a tree or a list that is really so deep: `sys.setrecursionlimit(10000)`"),
            ),
        )


def _together(circle: list[Frame]) -> str:
    names = list(dict.fromkeys(frame.location.function for frame in circle))
    if len(names) == 1:
        return f"`{names[0]}` calls itself without end"
    return f"{', '.join(f'`{name}`' for name in names)} call each other without end"


def _circle(own: list[Frame]) -> list[Frame]:
    """The shortest run of lines that the end of the traceback repeats."""
    lines = [(frame.location.file, frame.location.line) for frame in own]
    for skipped in range(min(3, len(lines))):
        # The last call of all may have stopped on another line than the rounds before it.
        seen = lines[: len(lines) - skipped]
        for length in range(1, _MOST_LINES + 1):
            rounds = [seen[len(seen) - length * (i + 1) : len(seen) - length * i] for i in range(_LEAST_ROUNDS)]
            if len(seen) >= length * _LEAST_ROUNDS and all(part == rounds[0] for part in rounds):
                return own[len(seen) - length : len(seen)]
    return []


def _cure(function: str, where: Location) -> Remedy:
    if function in ("forward", "__call__"):
        return Remedy(title="call a layer of the module there, not the module itself: `self(x)` runs `forward` again")
    if function == "__getattr__":
        return Remedy(
            title="read what is kept with `super().__getattr__(name)` or `self.__dict__[…]`",
            detail="`self.x` asks `__getattr__` again as long as `x` is not set, as while a copy is made",
        )
    if f"self.{function}" in where.source and "(" not in where.source.partition(f"self.{function}")[2][:1]:
        return Remedy(title=f"keep the value under another name: `self.{function}` asks the property again")
    if function == "__getitem__":
        return Remedy(title="ask the list or table behind the data set, not the data set itself")
    return Remedy(title="let the calls come to an end: one case has to return without a call")
