"""Arrays kept in float64: twice the disk and memory, and a type that float32 layers refuse."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ArraySeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, listed, places


class Float64Array(DataRule):
    """A hint with the size to be saved."""

    code = "DAT119"
    name = "float64-array"
    severity = "hint"
    symptoms = (Symptom.CRASH, Symptom.SLOW_STEP)
    tell_apart = "an array on the disk or in a data set has dtype float64"
    needs = (ArraySeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, ArraySeen):
            wide = [a for a in place.seen if a.dtype == "float64" and _size(a) >= 1000]
            if not wide:
                continue
            saved = sum(4 * _size(a) for a in wide)
            yield self.report(
                place,
                f"`{wide[0].name}` is float64, which layers of float32 do not take",
                evidence=[
                    f"concerned: {listed([a.name for a in wide])}; float32 would save {saved / (1 << 20):.1f} MiB"
                ],
                help=(
                    "save as float32: `np.save(path, x.astype(np.float32))`",
                    "or cast once in the Dataset: `torch.from_numpy(x).float()`",
                ),
                field=wide[0].name,
            )


def _size(array: ArraySeen) -> int:
    size = 1
    for length in array.shape:
        size *= length
    return size
