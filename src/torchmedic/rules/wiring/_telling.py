"""Words that the rules of this family share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from torchmedic.facts import Location, Observation, Run, SchedulerSeen
from torchmedic.findings import Also, RuledOut

F = TypeVar("F", bound=Observation)


def listed(names: Iterable[str], most: int = 6) -> str:
    """Names in backticks, the rest counted.

    >>> listed(["a", "b", "c"], most=2)
    '`a`, `b` and 1 more'
    """
    known = list(dict.fromkeys(names))
    shown = ", ".join(f"`{name}`" for name in known[:most])
    return shown + (f" and {len(known) - most} more" if len(known) > most else "")


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "step"), counted(3, "step")
    ('1 step', '3 steps')
    """
    return f"{number} {noun}" + ("" if number == 1 else "s")


def also(*places: tuple[Location | None, str], where: Location | None = None) -> tuple[Also, ...]:
    """Second places that are known and not the first one."""
    return tuple(Also(location=at, why=why) for at, why in places if at is not None and str(at) != str(where))


def line_to_edit(seen: SchedulerSeen) -> Location | None:
    """Where a scheduler is stepped; where it is built if a framework steps it, as it was told there."""
    return (seen.built if seen.stepped_by else seen.stepped) or seen.stepped or seen.built


def is_lightnings(seen: SchedulerSeen) -> bool:
    return seen.stepped_by in ("lightning", "pytorch_lightning")


def repeated(facts: Iterable[F], key: Callable[[F], object], least: int = 2) -> Iterator[list[F]]:
    """Facts that agree in something, from so many steps at least: what was seen once may be chance."""
    groups: dict[object, list[F]] = {}
    for fact in facts:
        groups.setdefault(key(fact), []).append(fact)
    return (group for group in groups.values() if len({fact.step for fact in group}) >= least)


def short(name: str, room: int = 40) -> str:
    return name if len(name) <= room else name[: room - 1] + "…"


def common_layer(names: Sequence[str]) -> str:
    """The longest dotted beginning that names share, or nothing.

    >>> common_layer(["fc.weight", "fc.bias"])
    'fc'
    """
    parts = [name.split(".") for name in names]
    shared = []
    for column in zip(*parts, strict=False):
        if len(set(column)) > 1:
            break
        shared.append(column[0])
    return ".".join(shared)


def ended_well(run: Run) -> bool:
    """The script came to its own end: counts are those of the whole run."""
    return run.info.exit_code in (0, None) and not run.info.stopped_by_us and run.info.signal is None


def learns_elsewhere(others: int) -> tuple[RuledOut, ...]:
    return (
        (RuledOut(suspect="the learning rate", how=f"{counted(others, 'other parameter')} moved with it"),)
        if others
        else ()
    )
