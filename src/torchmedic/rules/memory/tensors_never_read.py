"""Tensors without a graph are put into a container at every step, and nothing ever looks at them again."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import PiledTensors, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.memory._sizes import bytes_text, short


class TensorsNeverRead(Rule):
    """A container that the script only ever fills holds a new tensor for every step."""

    code = "MEM013"
    name = "tensors-never-read"
    symptoms = (Symptom.MEMORY_GROWS, Symptom.DEATH)
    tell_apart = "tensors without a graph pile up in a container that no line of the script reads or empties"
    needs = (PiledTensors,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for pile in run.all(PiledTensors):
            each = bytes_text(pile.bytes // max(1, pile.steps))
            yield self.diagnose(
                headline=f"`{pile.path}` grows by {each} a step, and only the last of it is read"
                if pile.last_read
                else f"`{pile.path}` grows by {each} a step, and nothing reads what it holds",
                confidence="likely",
                severity="warning",
                step=pile.step,
                where=pile.where,
                label=f"`{short(pile.value)}` stays for good" if pile.value else "what is stored here stays for good",
                also=(Also(location=pile.stored, why=f"stored in `{pile.path}` here"),) if pile.stored else (),
                culprit=Culprit(tensor=pile.path, phase="forward"),
                evidence=(
                    f"the {pile.container} `{pile.path}` gained {pile.count} tensors or more in {pile.steps} steps, "
                    f"{bytes_text(pile.bytes)} together",
                    f"no line of the script reads, empties or hands on `{pile.path}`, but for its last item"
                    if pile.last_read
                    else f"no line of the script reads, empties or hands on `{pile.path}`",
                ),
                remedies=(Remedy(title=f"keep the last one only: assign it instead of adding it to `{pile.path}`"),)
                if pile.last_read
                else (
                    Remedy(title=f"do not store it, or empty `{pile.path}` when its tensors have been used"),
                    Remedy(title="or bound it: `collections.deque(maxlen=…)`"),
                ),
            )
