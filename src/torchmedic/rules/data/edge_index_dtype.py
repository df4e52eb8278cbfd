"""An `edge_index` that is not int64."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import EdgesSeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, places


class EdgeIndexDtype(DataRule):
    """Message passing indexes with it, and refuses anything but int64."""

    code = "DAT129"
    name = "edge-index-dtype"
    severity = "error"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`edge_index.dtype` is not `torch.int64`"
    needs = (EdgesSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, EdgesSeen):
            for seen in place.seen:
                if seen.dtype != "int64":
                    yield self.report(
                        place,
                        f"`edge_index` of `{seen.name}` is {seen.dtype}, not int64",
                        evidence=["gather and scatter take indices of int64 only; float32 merges ids above 16,777,216"],
                        help=("convert it: `data.edge_index = data.edge_index.long()`",),
                        field=f"{seen.name}.edge_index",
                    )
