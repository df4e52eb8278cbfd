"""What can be made larger or smaller in a script: a flag of its own, or the batches of its data loader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torchmedic.checkups.memory.asking import Request
from torchmedic.checkups.memory.growth import Growth, Law, fit
from torchmedic.cli._memory_runs import predict_each
from torchmedic.cli._output import OneLineError
from torchmedic.facts import MemoryPlan
from torchmedic.render.memory import size_text

_BATCH_FLAGS = (
    "--batch-size", "--batch_size", "--batch", "--bs", "-b", "--train-batch-size", "--train_batch_size",
    "--per_device_train_batch_size", "--micro-batch-size", "--micro_batch_size",
)  # fmt: skip
_ENOUGH = 2
_LOOKING = 1.5


@dataclass(frozen=True)
class Axis:
    """A size of the script: `flag` on its command line, or the loader's batch where there is no flag.

    `most` is the batch that takes all of the data set at once (0 where nobody knows): the script has no larger one.
    """

    name: str
    flag: str = ""
    current: int = 0
    most: int = 0

    def ask(self, command: Sequence[str], request: Request, size: int) -> MemoryPlan | None:
        return self.ask_each(command, request, [size])[0]

    def ask_each(self, command: Sequence[str], request: Request, sizes: Sequence[int]) -> list[MemoryPlan | None]:
        """The plans at some sizes; where batches differ by themselves, a few are looked at."""
        request = replace(request, plenty=True, looking=_LOOKING)
        if not self.flag:
            now = self.current
            return predict_each([(command, replace(request, loader_batch=s, loader_now=now)) for s in sizes])
        return predict_each([(with_flag(command, self.flag, str(size)), request) for size in sizes])


@dataclass(frozen=True)
class Sweep:
    """Plans along an axis, and the laws that they follow."""

    axis: Axis
    sizes: tuple[int, ...]
    plans: tuple[MemoryPlan, ...]
    growth: Growth


def with_flag(command: Sequence[str], flag: str, value: str) -> list[str]:
    """The command with a flag set: replaced where it stands, added where it does not.

    >>> with_flag(["train.py", "--bs", "4"], "--bs", "8")
    ['train.py', '--bs', '8']
    >>> with_flag(["train.py", "data.bs=4"], "--data.bs", "8")
    ['train.py', 'data.bs=8']
    """
    changed = list(command)
    for at, word in enumerate(changed):
        if word.startswith(f"{flag.lstrip('-')}="):  # settings of a file, given anew
            changed[at] = f"{flag.lstrip('-')}={value}"
            return changed
        if word == flag and at + 1 < len(changed):
            changed[at + 1] = value
            return changed
        if word.startswith(f"{flag}="):
            changed[at] = f"{flag}={value}"
            return changed
    return [*changed, flag, value]


def batch_axis(command: Sequence[str], plan: MemoryPlan) -> Axis | None:
    """Where the batch size of this run comes from, if that can be told."""
    for at, word in enumerate(command):
        name, _, inline = word.partition("=")
        if name in _BATCH_FLAGS or (inline and f"--{name.rpartition('.')[2]}" in _BATCH_FLAGS):
            value = inline or (command[at + 1] if at + 1 < len(command) else "")
            if value.isdigit() and int(value) > 0:
                return Axis(name.lstrip("-"), name, int(value), _all_data(plan, int(value)))
    declared = next((flag for flag in _BATCH_FLAGS if plan.flags.get(flag)), None)
    if declared is not None:
        size = plan.flags[declared]
        return Axis(declared.lstrip("-"), declared, size, _all_data(plan, size))
    now = plan.loader_batch
    return Axis("batch", "", now, _all_data(plan, now)) if now else None


def _all_data(plan: MemoryPlan, size: int) -> int:
    """The size at which the loader's batch is all of its data; a flag may count several batches of it."""
    if not plan.loader_batch or not plan.loader_samples or size % plan.loader_batch:
        return 0
    return max(plan.loader_samples * (size // plan.loader_batch), size)


def parse_sweep(text: str) -> tuple[Axis, tuple[int, ...]]:
    """`batch-size=4,8,16`: the flag and its values."""
    name, _, values = text.partition("=")
    try:
        sizes = tuple(sorted({int(value) for value in values.split(",")}))
    except ValueError:
        sizes = ()
    if not name or len(sizes) < 2 or sizes[0] < 1:
        raise OneLineError(f"--sweep {text}: give a flag of the script and two or more sizes, as in batch-size=4,8,16")
    plain = name.lstrip("-")
    return Axis(plain, name if name.startswith("-") else f"--{name}"), sizes


def sweep(command: Sequence[str], request: Request, axis: Axis, sizes: Sequence[int]) -> Sweep | None:
    """Ask for every size; None where fewer than two could be followed, an error where the flag was asked for."""
    asked = list(zip(sizes, axis.ask_each(command, request, sizes), strict=True))
    found = [(size, plan) for size, plan in asked if plan is not None and plan.steps and plan.lost is None]
    if axis.flag and not axis.current:
        _check_answers(axis, [plan for _, plan in asked], [plan for _, plan in found])
    if len(found) < _ENOUGH:
        return None
    kept = tuple(size for size, _ in found)
    plans = tuple(plan for _, plan in found)
    return Sweep(axis, kept, plans, fit(kept, [plan.phase_peaks for plan in plans]))


def _check_answers(axis: Axis, asked: Sequence[MemoryPlan | None], found: Sequence[MemoryPlan]) -> None:
    """A flag that the user names and the script refuses, or does not know, is no axis."""
    if len(found) < _ENOUGH:
        lost = [plan.lost.error for plan in asked if plan is not None and plan.lost is not None]
        why = lost[0] if lost else "no optimizer step was seen"
        raise OneLineError(f"--sweep {axis.name}: the script does not run with {axis.flag}: {why}")
    declared = any(flag.startswith(axis.flag) for flag in found[0].flags)
    if not declared and all(plan.phase_peaks == found[0].phase_peaks for plan in found):
        raise OneLineError(
            f"--sweep {axis.name}: memory is the same with every {axis.flag}: the script does not read that flag, or "
            "nothing on the card depends on it"
        )


def around(size: int, most: int = 0) -> tuple[int, ...]:
    """Sizes that tell how memory grows from here on, none larger than the data set.

    >>> around(16), around(16, 20), around(16, 16)
    ((8, 32), (8, 20), (4, 8))
    """
    larger = min(size * 2, most) if most else size * 2
    further = larger if larger > size else size // 4
    return tuple(sorted({max(1, size // 2), max(1, further)}))


def grown_from(plan: MemoryPlan, axis: Axis, command: Sequence[str], request: Request) -> Sweep | None:
    """The growth along an axis, from the plan at hand and two more."""
    more = sweep(command, request, axis, around(axis.current, axis.most))
    if more is None:
        return None
    pairs = sorted([(axis.current, plan), *zip(more.sizes, more.plans, strict=True)], key=lambda pair: pair[0])
    sizes, plans = tuple(size for size, _ in pairs), tuple(p for _, p in pairs)
    return Sweep(axis, sizes, plans, fit(sizes, [p.phase_peaks for p in plans]))


def law_text(law: Law, name: str) -> str:
    """A law in words, without terms that do not matter.

    >>> law_text(Law(2**31, 2**29, 0.0), "batch")
    '2.00 GiB + 512 MiB x batch'
    """
    parts = [size_text(max(law.constant, 0))]
    if law.linear > 0:
        parts.append(f"{size_text(law.linear, digits=3)} x {name}")
    if law.quadratic > 0:
        parts.append(f"{size_text(law.quadratic, digits=3)} x {name}^2")
    return " + ".join(parts)
