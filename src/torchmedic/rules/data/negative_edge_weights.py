"""Negative edge weights: the root of a negative degree is NaN."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import EdgesSeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places


class NegativeEdgeWeights(DataRule):
    """`GCNConv` and spectral methods normalise by the root of summed weights."""

    code = "DAT133"
    name = "negative-edge-weights"
    symptoms = (Symptom.LOSS_NAN,)
    tell_apart = "`edge_weight` holds negative numbers"
    needs = (EdgesSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, EdgesSeen):
            for seen in place.seen:
                if seen.negative:
                    verb = "is" if seen.negative == 1 else "are"
                    yield self.report(
                        place,
                        f"{seen.negative:,} of {many(seen.edges, 'edge')} of `{seen.name}` {verb} of negative weight",
                        evidence=["a node whose weights sum below 0 has a degree whose root is NaN in `GCNConv`"],
                        help=(
                            "make the weights 0 or more: `edge_weight.abs()`, or `exp(-distance)` for distances",
                            "or pass signed values as `edge_attr` to a layer that does not normalise by degree",
                        ),
                        field=f"{seen.name}.{seen.weight}",
                        rows=seen.negative,
                    )
