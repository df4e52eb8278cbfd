"""A constant, usually that of a mask, that float16 cannot hold: the operation refuses it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, said, tensors, user_line
from torchmedic.rules.numerics.half_precision_overflow import written_constant

_MESSAGE = r"value cannot be converted to type \S*Half without overflow"
_CALL = re.compile(r"(\w+)\.(\w+)\(")


class ConstantBeyondHalf(Rule):
    """The message says so; the line holds the number."""

    code = "NUM041"
    name = "constant-beyond-half"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message names Half and an overflow"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        if crash is None or line is None or crash.user_frame is None or said(crash, _MESSAGE) is None:
            return
        written = written_constant(line)
        call = _CALL.search(line.source)
        held = next((name for name, value in tensors(crash.user_frame) if value.dtype == "float16"), None)
        name = held or (call[1] if call else None)
        yield self.diagnose(
            headline=f"`{written}` does not fit float16, the type of {f'`{name}`' if name else 'the tensor'} here"
            if written
            else "a constant does not fit float16, the type of the tensor here",
            confidence="proven",
            where=line,
            label="float16 ends at 6.55e+04",
            culprit=Culprit(op=call[2] if call else None, tensor=name, phase="forward"),
            evidence=(f"the error: `{crash.message.strip().splitlines()[0]}`",),
            remedies=(
                Remedy(title=f"write `torch.finfo({name or 'x'}.dtype).min` in its place"),
                Remedy(title='or `float("-inf")`, where no row is masked whole'),
            ),
        )
