"""Hooks registered in every step, which stay on their module."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import PilingHooks, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.memory._sizes import bytes_text

_MUCH = 1 << 20


class HooksPilingUp(Rule):
    """One line registers a hook on the same module again and again, and none of them is removed."""

    code = "MEM011"
    name = "hooks-piling-up"
    symptoms = (Symptom.MEMORY_GROWS, Symptom.SLOW_STEP)
    tell_apart = "steps become slower and slower, and the number of hooks on a module grows with them"
    needs = (PilingHooks,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(PilingHooks):
            yield self.diagnose(
                headline=f"`{seen.module}` has {seen.live} hooks from this line, and every pass adds more",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                label="registered again and again, never removed",
                culprit=Culprit(op=seen.method, module=seen.module, phase="forward"),
                evidence=tuple(_evidence(seen)),
                remedies=(
                    Remedy(title="register it once, where the module is built, and not in every pass"),
                    Remedy(title=f"or keep the handle that `{seen.method}` returns, and `remove()` it afterwards"),
                ),
            )


def _evidence(seen: PilingHooks) -> Iterator[str]:
    yield (
        f"`{seen.method}` had left {seen.before} hooks on it by step {seen.before_step}, and {seen.live} by step "
        f"{seen.step}"
    )
    if seen.modules > 1:
        yield f"the same line fills {seen.modules} modules, with {seen.total} hooks in all"
    if seen.bytes >= _MUCH:
        yield f"the tensors that these hooks hold take {bytes_text(seen.bytes)}"
    yield (
        "each of them runs at every call of the module: the time of a step grows, what they do is done over and over, "
        "and what they hold stays alive"
    )
