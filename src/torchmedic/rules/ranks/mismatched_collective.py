"""Ranks that meet in different collectives, or with tensors of different form."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import CollectiveCall, CollectiveCalls, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._calls import Parting, called, is_at_odds, parting, ranks_text, unequal_call
from torchmedic.rules.ranks._loops import has_left_loop
from torchmedic.rules.ranks.skipped_collective import first_skipped


class MismatchedCollective(Rule):
    """The calls of all ranks agree up to one number; there they differ in operation or form."""

    code = "RNK006"
    name = "mismatched-collective"
    symptoms = (Symptom.STUCK, Symptom.CRASH, Symptom.DEATH)
    tell_apart = "the n-th collective of one rank is another operation, or has another shape, than that of the others"
    needs = (CollectiveCalls,)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        yield from self._unnoticed(run)
        parted = parting(run) if is_at_odds(run) else None
        if parted is None or len(parted.waiting) < 2 or has_left_loop(run, parted):
            return
        if first_skipped(run, parted) is not None:
            return
        odd = _odd_ones(parted)
        if not odd:
            return
        call, odds = parted.waiting[odd[0]], ranks_text(odd)
        other = next(c for rank, c in parted.waiting.items() if (c.op, c.form) != (call.op, call.form))
        rest = [rank for rank, c in parted.waiting.items() if (c.op, c.form) == (other.op, other.form)]
        by_form = call.op == other.op
        by_root = by_form and call.form.partition(" with ")[0] == other.form.partition(" with ")[0]
        by_type = by_form and call.form.partition("[")[2] == other.form.partition("[")[2]
        agree = "agrees" if parted.number == 2 else "agree"
        yield self.diagnose(
            headline=f"{odds} and {ranks_text(rest)} name different roots in `{call.op}`"
            if by_root
            else f"{odds} {'is' if len(odd) == 1 else 'are'} in {called(call)}, {ranks_text(rest)} in {called(other)}",
            confidence="proven",
            ranks=tuple(odd),
            where=call.where,
            label=odds + (f": `{call.form}`" if by_form else ""),
            step=call.step,
            also=(Also(location=other.where, why=f"{ranks_text(rest)}" + (f": `{other.form}`" if by_form else "")),)
            if other.where is not None and other.where != call.where
            else (),
            culprit=Culprit(op=call.op, tensor=call.form or None),
            evidence=(
                *((f"{ranks_text(rest)}: `{other.form}`",) if by_root else ()),
                f"it is collective {parted.number} of each rank; the {parted.number - 1} before it {agree}",
                "collectives are matched by their order alone: the first that differs stops all ranks",
            ),
            remedies=(
                Remedy(title="name the same rank as `src` or `dst` on every rank, not each its own")
                if by_root
                else Remedy(title="give tensors of one dtype on every rank: `.float()` before the collective")
                if by_type
                else Remedy(title="bring all tensors to one shape first: exchange the sizes, then pad to the largest")
                if by_form
                else _SAME_ORDER,
                *((_SAME_ORDER,) if by_form and not by_root and not by_type else ()),
                Remedy(title="find such places early with `TORCH_DISTRIBUTED_DEBUG=DETAIL`, which checks every call"),
            ),
        )

    def _unnoticed(self, run: Run) -> Iterator[Diagnosis]:
        """Some backends let tensors of different sizes pass: the run comes to its end with wrong numbers."""
        parted = unequal_call(run)
        odd = _odd_ones(parted) if parted is not None else []
        if parted is None or not odd:
            return
        call = parted.waiting[odd[0]]
        other = next(c for c in parted.waiting.values() if c.form != call.form)
        rest = [rank for rank, c in parted.waiting.items() if c.form == other.form]
        odds, others = ranks_text(odd), ranks_text(rest)
        mine, theirs = _tensor(call), _tensor(other)
        yield self.diagnose(
            headline=f"`{call.op}` gets {mine} from {odds}, {theirs} from {others}",
            confidence="proven",
            ranks=tuple(odd),
            where=call.where,
            label=f"{odds}: {mine}",
            step=call.step,
            culprit=Culprit(op=call.op, tensor=call.form),
            evidence=("nothing was raised: what has no counterpart stays as it was in the receiver's memory",),
            remedies=(
                Remedy(title="bring all tensors to one shape first: exchange the sizes, then pad to the largest"),
                Remedy(title="or exchange objects, which may differ: `dist.gather_object`, `dist.all_gather_object`"),
            ),
        )


def _tensor(call: CollectiveCall) -> str:
    return f"`{call.form.partition(' with ')[0]}`"


_SAME_ORDER = Remedy(
    title="call the collectives in the same order on every rank",
    detail="an order that comes from the rank, from a `set` or from a list of files differs: sort it",
)


def _odd_ones(parted: Parting) -> list[int]:
    """The ranks that differ: the smallest group of equal calls, the one with the highest rank where they are alike."""
    groups: dict[tuple[str, str], list[int]] = {}  # by operation and form
    for rank, call in parted.waiting.items():
        groups.setdefault((call.op, call.form), []).append(rank)
    if len(groups) < 2:
        return []
    return sorted(groups.values(), key=lambda ranks: (len(ranks), -max(ranks)))[0]
