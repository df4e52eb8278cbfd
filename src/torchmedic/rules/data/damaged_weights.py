"""A checkpoint whose weights are NaN, infinite or all zero."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ArraySeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, listed, many, places

# Layers that are zero at the start by design: the second half of an adapter, gates, zero-initialised heads.
_ZERO_BY_DESIGN = ("lora_b", "gate", "zero", "gamma", "adapter", "alibi", "mask", "position_ids")


class DamagedWeights(DataRule):
    """Non-finite weights are an error; matrices of zeros a warning."""

    code = "DAT135"
    name = "damaged-weights"
    severity = "error"
    symptoms = (Symptom.LOSS_NAN, Symptom.WEIGHTS_NAN, Symptom.CHECKPOINT_DIFFERS)
    tell_apart = "the tensors of a checkpoint are not finite, or whole matrices are zero"
    needs = (ArraySeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, ArraySeen):
            weights = [a for a in place.seen if a.purpose == "weight"]
            bad = [a for a in weights if a.nan or a.inf]
            zero = [a for a in weights if _is_dead(a)]
            if bad:
                count = sum(a.nan + a.inf for a in bad)
                yield self.report(
                    place,
                    f"{len(bad)} of {many(len(weights), 'tensor')} hold NaN or infinity, `{bad[0].name}` first",
                    evidence=[f"{many(count, 'number')} in {listed([a.name for a in bad])}"],
                    cells=[cell for a in bad for cell in a.cells[:2]],
                    help=(
                        "take an earlier checkpoint: this one was saved after the training had become NaN",
                        "run the training under `torchmedic run`, which keeps the weights of the last good step",
                    ),
                    field=bad[0].name,
                    rows=count,
                )
            if zero:
                yield self.report(
                    place,
                    f"{len(zero)} of {many(len(weights), 'tensor')} are zero throughout, `{zero[0].name}` first",
                    severity="warning",
                    confidence="likely",
                    evidence=[f"zero: {listed([a.name for a in zero])}; biases are not counted"],
                    help=(
                        "look whether this layer was ever filled: a key that was not loaded, or an empty tensor saved",
                    ),
                    field=zero[0].name,
                )


def _is_dead(weight: ArraySeen) -> bool:
    by_design = any(word in weight.name.lower() for word in _ZERO_BY_DESIGN)
    matrix = len(weight.shape) >= 2 and weight.name.endswith("weight")
    return matrix and not by_design and weight.minimum == weight.maximum == 0
