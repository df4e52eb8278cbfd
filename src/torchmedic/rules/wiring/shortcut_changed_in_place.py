"""An activation in place changes the input of a residual block: the shortcut adds what is left of it."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, ShortcutChanged
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, repeated


class ShortcutChangedInPlace(Rule):
    """The block adds its input, but the first activation of its branch has written over it."""

    code = "WIR262"
    name = "shortcut-changed-in-place"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the branch of a block begins with an activation in place, and the shortcut reads what it has changed"
    needs = (ShortcutChanged,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for group in repeated(run.all(ShortcutChanged), lambda seen: (seen.layer_built or seen.changed_at, seen.where)):
            seen = group[0]
            where = seen.layer_built or seen.changed_at
            called = f"nn.{seen.layer}" if seen.layer else f"F.{seen.op}"
            yield self.diagnose(
                headline=f"the shortcut `{seen.expression}` adds what `{called}` in place has made of `{seen.name}`",
                confidence="proven",
                step=seen.step,
                where=where,
                mark=called,
                label=f"`inplace=True` writes over `{seen.name}`, which the block adds later",
                also=also((seen.changed_at, "goes through it here"), (seen.where, "added here"), where=where),
                culprit=Culprit(op=seen.op, phase="forward", tensor=seen.name),
                evidence=(
                    f"{seen.share:.0%} of `{seen.name}` are not what they were when the block was called",
                    f"seen in {len({one.step for one in group})} steps",
                ),
                remedies=(
                    Remedy(title=f"leave `inplace=True` out: `{called}()`")
                    if seen.layer
                    else Remedy(title="leave `inplace=True` out"),
                    Remedy(title="if the activated input is meant, say so: activate it before the branch"),
                ),
            )
