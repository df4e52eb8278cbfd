"""Rows of the test data that are in the training data as well."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SharedBetween
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places, share

_CLOSE = {
    "near": ", up to rounding and case",
    "changed": " but for a few cells",
    "reworded": " but for a few words",
}
_GUESSED = ("changed", "reworded")
_WHAT = {"pixels": "images", "nodes": "nodes"}


class RowsInTrainAndTest(DataRule):
    """Equal rows, rows equal up to rounding and case or but for a few cells, or equal ids."""

    code = "DAT113"
    name = "rows-in-train-and-test"
    severity = "error"
    symptoms = (Symptom.SCORE_TOO_GOOD, Symptom.LOSS_EQUALS_TEST)
    tell_apart = "rows of the test file stand in the training file too"
    needs = (SharedBetween,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, SharedBetween):
            for seen in place.seen:
                if seen.how == "group" or not _is_much(seen):
                    continue
                what = f"ids (`{seen.columns[0]}`)" if seen.how == "key" else _WHAT.get(seen.how, "rows")
                close = _CLOSE.get(seen.how, "")
                yield self.report(
                    place,
                    (
                        f"{seen.shared:,} of {seen.of:,} {what} of `{seen.test}` are in `{seen.train}` too{close}",
                        f"{seen.shared:,} of {seen.of:,} {what} of the test data are in the training data too{close}",
                    ),
                    severity="warning" if seen.how in _GUESSED else "error",
                    confidence="likely" if seen.how in _GUESSED else "proven",
                    cells=seen.cells,
                    evidence=[_evidence(seen)],
                    help=_help(seen),
                    rows=seen.shared,
                )


def _is_much(seen: SharedBetween) -> bool:
    """Pictures are never equal by chance, nor is a node marked twice; rows may be."""
    return seen.how in _WHAT or seen.shared >= max(3, 10 * seen.by_chance, 0.005 * seen.of)


def _help(seen: SharedBetween) -> tuple[str, ...]:
    if seen.how == "nodes":
        return (f"take them out of one: `{seen.train.rpartition('.')[2]} &= ~{seen.test.rpartition('.')[2]}`",)
    return (
        f"take them out of `{seen.train}`, or split again after dropping duplicates",
        "split by what rows have in common (person, document, day) where rows come in families",
    )


def _evidence(seen: SharedBetween) -> str:
    expected = f"; by chance one would expect about {seen.by_chance:.2g}" if seen.by_chance >= 0.01 else ""
    return f"{share(seen.shared, seen.of)} of `{seen.test}`, {_compared(seen)}{expected}"


def _compared(seen: SharedBetween) -> str:
    if seen.how == "key":
        return "compared by id"
    if seen.how == "pixels":
        return "compared pixel by pixel"
    if seen.how == "nodes":
        return "marked in both masks"
    if not seen.columns:
        return "compared by all fields but the label"
    if seen.how == "reworded":
        return f"compared by pieces of three words of `{seen.columns[0]}`"
    return f"compared in {many(len(seen.columns), 'column')}, label and id aside"
