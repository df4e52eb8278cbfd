"""A processor that refuses instructions which it announces: virtual machines do that."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import InstructionRefused, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._native import frames_of, own_frame


class RefusedInstruction(Rule):
    """The script died of SIGILL, and did not when oneDNN was kept from the newest instructions."""

    code = "ENV017"
    name = "refused-instruction"
    severity = "hint"
    symptoms = (Symptom.DEATH,)
    tell_apart = "`Illegal instruction`, status 132, in the first half-precision layer"
    needs = (InstructionRefused,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = run.first(InstructionRefused)
        if seen is None:
            return
        stack = list(frames_of(seen.native_stack, run.info.cwd))
        setting = f"{seen.variable}={seen.value}"
        helped = seen.status != 132
        yield self.diagnose(
            headline="the processor refused an instruction that it announces (SIGILL)",
            confidence="proven" if helped else "likely",
            where=own_frame(stack),
            label="the last line of the script that ran",
            culprit=Culprit(op=stack[0].function if stack else None, phase="setup"),
            evidence=(
                f"the script was started again with `{setting}`, and "
                + ("did not die of it" if helped else "died of it again"),
                "virtual machines may announce matrix and half-precision instructions that they do not let through",
            ),
            remedies=(Remedy(title=f"set `{setting}` before you start Python on this machine", verified=helped),),
        )
