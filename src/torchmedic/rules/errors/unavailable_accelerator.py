"""A Trainer that asks for a device which this machine or this torch does not have."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Environment, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._frameworks import written_call
from torchmedic.rules.errors._reading import crash_in, said, user_line


class UnavailableAccelerator(Rule):
    """`accelerator=` or `devices=` names what is not there."""

    code = "ERR083"
    name = "unavailable-accelerator"
    symptoms = (Symptom.CRASH, Symptom.NO_GPU)
    tell_apart = "Lightning finds no such backend, or fewer devices than were asked for"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(
            crash,
            r"No supported gpu backend found",
            r"`\w*Accelerator` can not run on your system",
            r"You requested gpu: .*But your machine only has",
            r"`devices` selected with `\w+Accelerator` should be",
            r"received `devices=.*expected an int",
        )
        if crash is None or found is None:
            return
        trainer = written_call(run, crash, "Trainer", "Fabric")
        asked = {name: trainer.argument(name) for name in ("accelerator", "devices", "strategy")} if trainer else {}
        given = ", ".join(f"{name}={text}" for name, text in asked.items() if text) or "the default devices"
        where = trainer.place if trainer is not None else user_line(crash)
        yield self.diagnose(
            headline=f"the Trainer asks for `{given}`, which is not here",
            confidence="proven",
            where=where,
            label="asked for here",
            culprit=Culprit(phase="setup"),
            evidence=(f"it was refused with `{crash.message.splitlines()[0].rstrip('.!')}`", *_machine(run)),
            remedies=(
                Remedy(title='write `accelerator="auto", devices="auto"`: it takes what the machine has'),
                Remedy(title="or find out with `torchmedic env` why the GPU is not seen"),
            ),
        )


def _machine(run: Run) -> Iterator[str]:
    seen = run.last(Environment)
    if seen is not None:
        yield f"this machine has {', '.join(seen.gpus) or 'no GPU'}; torch is {seen.torch}"
