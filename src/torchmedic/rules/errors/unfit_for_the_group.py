"""Tensors that do not fit the group of ranks which a collective gives them to: by size, by number, by root."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_SIZE = r"invalid tensor size at index \d+ \(expected \((.*?)\), got \((.*?)\)\)"
_NUMBER = (
    r"invalid (?:output|input) tensor list at index \d+ \(expected length (\d+), got (\d+)\)",
    r"Incorrect (?:output|input) list size (?P<got>\d+)\. (?:Output|Input) list size should be (?P<want>\d+)",
)
_ROOT = r"``(scatter|gather)_list`` must (NOT )?be specified on (?:non-)?\w+ rank"
_NO_SUCH_RANK = r"invalid root rank: (-?\d+)"
_PARTS = (
    r"outputShape\[0\] \* worldSize == inputShape\[0\] \((\d+) vs\. (\d+)\)",
    r"(?i)output tensor size must be equal to world_size times input tensor size",
    r"(?i)input tensor must be the same size as output size times world size",
)
_COLLECTIVES = frozenset(
    {
        *("all_gather", "all_gather_into_tensor", "all_gather_single", "gather", "scatter", "broadcast", "reduce"),
        *("reduce_scatter", "reduce_scatter_tensor", "reduce_scatter_single", "all_to_all", "all_to_all_single"),
    }
)


@dataclass(frozen=True)
class _Told:
    headline: str
    label: str
    remedies: tuple[str, ...]


class UnfitForTheGroup(Rule):
    """What the call itself was given contradicts the number of ranks, or itself: no other rank is needed to say so."""

    code = "ERR250"
    name = "unfit-for-the-group"
    symptoms = (Symptom.CRASH,)
    tell_apart = "a collective of `torch.distributed` refuses its own arguments, before it waits for anybody"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        call = _call(run, line) if line is not None else None
        told = _told(crash, dotted(call.func).rpartition(".")[2] if call is not None else "torch.distributed")
        if crash is None or line is None or told is None:
            return
        made = _made_at(run, line, call)
        yield self.diagnose(
            headline=told.headline,
            confidence="proven",
            where=line,
            label=told.label,
            step=crash.step,
            also=also((made, "what it is given is made here"), but=line),
            culprit=Culprit(op=dotted(call.func).rpartition(".")[2] if call is not None else None),
            evidence=(_EVERY,),
            remedies=tuple(Remedy(title=title) for title in told.remedies),
        )


def _told(crash: Crash | None, name: str) -> _Told | None:
    if match := said(crash, _SIZE):
        return _Told(
            headline=f"`{name}` is given places of size ({match[2]}) for tensors of size ({match[1]})",
            label=f"sends ({match[1]}) into ({match[2]}) here",
            remedies=_PAD,
        )
    if match := said(crash, *_NUMBER):
        named = match.groupdict()
        want, got = (named["want"], named["got"]) if named else (match[1], match[2])
        return _Told(
            headline=f"`{name}` is given a list of {got} tensors in a group of {want} ranks",
            label=f"{got} tensors for {want} ranks",
            remedies=("make the list as long as the group: `for _ in range(dist.get_world_size())`",),
        )
    if match := said(crash, _ROOT):
        return _Told(
            headline=f"`{name}` is given a list on a rank that has none to give or to fill"
            if match[2]
            else f"`{name}` is given no list on the one rank that needs it",
            label=f"`{match[1]}_list` belongs to one rank alone",
            remedies=(
                f"give the list on that rank and None on the others: `{match[1]}_list=x if rank == 0 else None`",
            ),
        )
    if match := said(crash, _NO_SUCH_RANK):
        return _Told(
            headline=f"`{name}` names rank {match[1]} as its root, which the group does not have",
            label="no such rank",
            remedies=("ranks go from 0 to `dist.get_world_size() - 1`; a smaller group has ranks of its own",),
        )
    if said(crash, *_PARTS):
        return _Told(
            headline=f"what `{name}` gathers or scatters is not as many times as large as there are ranks",
            label="one tensor is not the other times the number of ranks",
            remedies=("make it `dist.get_world_size()` times as long in its first dimension",),
        )
    return None


_EVERY = "every rank gives a tensor of the same size, and gets as many as there are ranks"
_PAD = (
    "make the places like what is sent: `[torch.empty_like(x) for _ in range(dist.get_world_size())]`",
    "where ranks send different sizes: exchange the sizes first, pad to the largest, cut again afterwards",
    "or send objects, which may differ in size: `dist.all_gather_object(out, x)`",
)


def _call(run: Run, line: Location) -> ast.Call | None:
    """The collective on a line."""
    calls = [node for s in Code.of(run).statements(line) for node in ast.walk(s) if isinstance(node, ast.Call)]
    return next((call for call in calls if dotted(call.func).rpartition(".")[2] in _COLLECTIVES), None)


def _made_at(run: Run, line: Location, call: ast.Call | None) -> Location | None:
    """Where the first argument was made."""
    first = call.args[0] if call is not None and call.args else None
    made = Code.of(run).last_assignment(first.id, line) if isinstance(first, ast.Name) else None
    return made.location if made is not None else None
