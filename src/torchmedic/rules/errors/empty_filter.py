"""A table filter that no row met, long before the crash."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, EmptyFilter, Run
from torchmedic.findings import Confidence, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line

_EMPTINESS = (
    r"num_samples=0\b",
    r"\bempty\b",
    "zero-size",
    r"size 0\b",
    r"numel\(\) == 0",
    r"0 sample\(s\)",
    "n_samples=0",
    r"non-empty",
    "at least one",
    "No objects to concatenate",
)
# Words that fit emptiness as well as much else: only with an empty value in the failing frames.
_VAGUE = (r"[(\[]0[,\])]", r"out[- ]of[- ](?:bounds|range)", "division by zero", "NoneType", "greater than zero")
_VERBS = {"dropna": "`dropna`", "merge": "the merge", "query": "the query", "__getitem__": "the filter"}


class EmptyFilterRule(Rule):
    """Rows went in, none came out, and later code broke on it."""

    code = "ERR038"
    name = "empty-filter"
    symptoms = (Symptom.CRASH,)
    tell_apart = "an empty array, a size of 0, or None, after a pandas filter, `query`, `dropna` or `merge`"
    needs = (Crash, EmptyFilter)
    folds = ("ERR0",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or not (said(crash, *_EMPTINESS) or (said(crash, *_VAGUE) and _holds_nothing(crash))):
            return
        seen = _the_one(run)
        showed = user_line(crash)
        yield self.diagnose(
            headline=_headline(seen),
            confidence=_confidence(seen, crash),
            where=seen.where,
            label=f"{seen.rows} rows go in, 0 come out",
            also=also((showed, f"fails here: {crash.message.partition(chr(10))[0][:60]}"), but=seen.where),
            culprit=Culprit(phase="data", field=_fatal(seen) or None, rows=0, op=seen.operation.strip("_")),
            evidence=tuple(_evidence(seen)),
            remedies=tuple(_remedies(seen)),
        )


def _the_one(run: Run) -> EmptyFilter:
    """The last filter whose empty result is still alive, else the last one."""
    seen = list(run.all(EmptyFilter))
    held = [s for s in seen if s.still_held]
    return (held or seen)[-1]


def _confidence(seen: EmptyFilter, crash: Crash) -> Confidence:
    return "proven" if said(crash, *_EMPTINESS) and seen.still_held else "likely"


def _holds_nothing(crash: Crash) -> bool:
    """Whether a frame of the user's holds an empty table, array or list."""
    values = [v for f in crash.frames if f.is_user for v in f.values]
    return any(
        v.length == 0 or (v.tensor is not None and 0 in v.tensor.shape) or v.text.startswith("shape (0,")
        for v in values
    )


def _fatal(seen: EmptyFilter) -> str:
    return seen.conditions[-1][0] if seen.conditions and seen.conditions[-1][1] == 0 else ""


def _headline(seen: EmptyFilter) -> str:
    fatal = _fatal(seen)
    if fatal and len(fatal) < 40:
        return f"`{fatal}` leaves none of the {seen.rows} rows of `{seen.table}`"
    return f"{_VERBS.get(seen.operation, 'the filter')} on `{seen.table}` leaves 0 of {seen.rows} rows"


def _evidence(seen: EmptyFilter) -> Iterator[str]:
    if seen.conditions:
        steps = "; ".join(f"`{text}` leaves {left}" for text, left in seen.conditions)
        yield f"`{seen.table}` had {seen.rows} rows; {steps}"
    yield from seen.hints


def _remedies(seen: EmptyFilter) -> Iterator[Remedy]:
    if seen.operation == "merge":
        yield Remedy(title="compare the key columns of both tables: their types and spelling must agree")
    elif seen.operation == "dropna":
        yield Remedy(title="name the columns that must be filled: `dropna(subset=[…])`")
    else:
        fatal = _fatal(seen)
        yield Remedy(title=f"correct `{fatal}` to what the column holds" if fatal else "correct the condition")
    yield Remedy(title="and stop early: `assert len(table) > 0` after the filter")
