"""Data with nothing in it: an empty file, a header alone, a filter that leaves no row, an axis of length 0."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ArraySeen, FileTrouble, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places


class EmptyData(DataRule):
    """Says what is empty, and what is left of the data."""

    code = "DAT136"
    name = "empty-data"
    severity = "error"
    symptoms = (Symptom.CRASH, Symptom.LOSS_NAN)
    tell_apart = "a file holds no row, a filter leaves none, or an array has an axis of length 0"
    needs = ()

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, FileTrouble):
            for seen in place.seen:
                if seen.trouble in ("empty", "filtered-away"):
                    filtered = seen.trouble == "filtered-away"
                    yield self.report(
                        place,
                        f"no row of `{seen.source}` satisfies `{seen.detail}`"
                        if filtered
                        else f"`{seen.source}` is empty",
                        evidence=[] if filtered else [seen.detail],
                        help=(
                            ("loosen the condition; compare texts as they are written, blanks and case included",)
                            if filtered
                            else ("write the file again, or leave it out: an empty part makes means of nothing, NaN",)
                        ),
                        field=seen.source,
                        rows=0,
                    )
        for arrays in places(run, ArraySeen):
            void = [a for a in arrays.seen if 0 in a.shape]
            if void:
                yield self.report(
                    arrays,
                    f"`{void[0].name}` has an axis of length 0: shape {list(void[0].shape)}",
                    evidence=[f"{many(len(void), 'array')} without a value; the mean of nothing is NaN"],
                    help=("look at the filter or slice that made it, and leave out what is empty",),
                    field=void[0].name,
                    rows=0,
                )
