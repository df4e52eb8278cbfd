"""A CUDA kernel gave up, and the line shown is not the line at fault."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, said, user_line

_PATTERNS = (r"device-side assert triggered", r"CUDA error: (an illegal memory access|misaligned address)[^\n]*")
_ASSERTIONS = {
    r"t >= 0 && t < n_classes": "a label is negative or not smaller than the number of classes",
    r"srcIndex < srcSelectDimSize": "an embedding or `index_select` got an index beyond its table",
    r"index out of bounds|idx_dim >= 0|-sizes\[i\] <= index": "an index lies beyond its dimension",
    r"input_val >= (?:zero|0)|>= 0 && .* <= 1": "binary cross-entropy got a value outside 0 to 1",
    r"probability tensor|cumdist": "`multinomial` got probabilities that are negative, infinite or NaN",
}


class DeviceSideAssert(Rule):
    """An assertion inside a kernel; launches are asynchronous, so the traceback points later."""

    code = "ERR020"
    name = "device-side-assert"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message begins with `CUDA error`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, *_PATTERNS)
        if crash is None or match is None:
            return
        told = "\n".join((crash.message, *crash.notes))
        known = next((why for pattern, why in _ASSERTIONS.items() if re.search(pattern, told)), "")
        memory = "memory" in match[0] or "address" in match[0]
        what = "touched memory out of its bounds" if memory else "found a value it must not get"
        yield self.diagnose(
            headline=f"a CUDA kernel {what}, at this line or before it",
            confidence="likely" if known else "possible",
            where=user_line(crash),
            label="where it was noticed, not where it happened",
            culprit=Culprit(phase="forward", op="device-side assert"),
            evidence=(
                *((f"the assertion that failed: {known}",) if known else ()),
                "kernels run asynchronously: the error surfaces at a later call, and the GPU is lost to this process",
                *(
                    ()
                    if memory or known
                    else ("the usual causes are a label >= number of classes, or a token id >= table size",)
                ),
            ),
            remedies=(
                Remedy(
                    title="run the same script on the CPU: there the error names the index, and torchmedic the layer"
                ),
                Remedy(title="or set `CUDA_LAUNCH_BLOCKING=1`, so that the traceback stops at the guilty call"),
            ),
        )
