"""`view` or `reshape` where `permute` was meant: sizes fit, values are mixed."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SwappedByView
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import shown
from torchmedic.rules.wiring._telling import also, repeated

_LABELS = {
    "order": "the same sizes in another order",
    "split": "heads are split off in front of the positions",
    "merge": "heads or channels are joined while they stand in front of the positions",
    "states": "the directions of the layer stand in front of the samples",
}


class DimensionsSwappedByView(Rule):
    """A view that puts dimensions into another order cuts along memory, and moves nothing."""

    code = "WIR070"
    name = "dimensions-swapped-by-view"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "a `view` or `reshape` has the same sizes before and after, in another order"
    needs = (SwappedByView,)
    folds = ("answers-unrelated-to-targets",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        placed = (seen for seen in run.all(SwappedByView) if seen.where is not None)
        groups: dict[str, list[list[SwappedByView]]] = {}
        for found in repeated(placed, key=lambda seen: seen.where):
            assert found[0].where is not None
            groups.setdefault(f"{found[0].where.file} {found[0].where.function}", []).append(found)
        for first, *others in groups.values():
            yield self._diagnosis(first[0], len(first), [other[0] for other in others])

    def _diagnosis(self, seen: SwappedByView, times: int, others: list[SwappedByView]) -> Diagnosis:
        before, after = shown(seen.before), shown(seen.after)
        return self.diagnose(
            headline=f"`{seen.op}` of {before} to {after} mixes what the dimensions hold",
            confidence="proven",
            step=seen.step,
            where=seen.where,
            mark=seen.expression,
            label=_LABELS[seen.way],
            also=also(*((other.where, _LABELS[other.way]) for other in others), where=seen.where),
            culprit=Culprit(op=seen.op, phase="forward", tensor=_subject(seen.expression)),
            evidence=(
                f"a view keeps the order of values in memory: {_consequence(seen)}",
                f"so it was in {times} calls that were looked at",
            ),
            remedies=tuple(_remedies(seen)),
        )


def _consequence(seen: SwappedByView) -> str:
    if seen.way == "split":
        return f"each of the {seen.after[-3]} heads gets neighbouring positions, not its part of every position"
    if seen.way == "merge":
        row = seen.after[-1]
        return f"a row of {row} numbers holds several positions of one head or channel, not one position of all"
    if seen.before[0] != seen.after[0]:
        return "values of one sample end up in the rows of others"
    return "what was one pixel, channel or time step is spread over several"


def _remedies(seen: SwappedByView) -> Iterator[Remedy]:
    subject = _subject(seen.expression) or "x"
    if seen.way == "split":
        batch, positions, _ = seen.before[-3:]
        heads, width = seen.after[-3], seen.after[-1]
        yield Remedy(
            title=f"split, then swap: `{subject}.view({batch}, {positions}, {heads}, {width}).transpose(1, 2)`"
        )
    elif seen.way == "merge":
        yield Remedy(title=f"swap back before joining: `{subject}.transpose(1, 2).reshape({_listed(seen.after)})`")
    elif seen.way == "states":
        yield Remedy(title=f"put the samples first: `{subject}.transpose(0, 1).reshape({_listed(seen.after)})`")
    else:
        order = _order(seen.before, seen.after)
        yield Remedy(title=f"move the dimensions: `{subject}.permute({_listed(order)})`" if order else "use `permute`")


def _order(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that would give the shape; nothing where several would, or ones come and go."""
    if len(before) != len(after) or sorted(before) != sorted(after):
        return ()
    left = list(range(len(before)))
    order = []
    for size in after:
        chosen = next(i for i in left if before[i] == size)
        left.remove(chosen)
        order.append(chosen)
    return tuple(order)


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


def _subject(expression: str) -> str:
    """What the view is taken of: `x` of `x.view(…)`."""
    for method in (".view(", ".reshape("):
        before, found, _ = expression.rpartition(method)
        if found:
            return before
    return ""
