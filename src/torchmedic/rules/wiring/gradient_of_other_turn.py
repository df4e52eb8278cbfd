"""An update contains the gradient that another optimizer's backward left on its parameters: GANs, actor and critic."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, StrayGradients
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_LEAST = 4
_OF_TURNS = 0.8
_SAME_AIM = 0.3


class GradientOfOtherTurn(Rule):
    """What a backward left on the layers that it only passed through is used by their own optimizer's next step."""

    code = "WIR126"
    name = "gradient-of-other-turn"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT, Symptom.LOSS_NOISY)
    tell_apart = "before an optimizer's own backward, its parameters already hold the gradient of another one's loss"
    needs = (StrayGradients,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(StrayGradients):
            if seen.strayed < max(_LEAST, _OF_TURNS * seen.turns) or seen.agreement > _SAME_AIM:
                continue
            yield self._diagnosis(seen)

    def _diagnosis(self, seen: StrayGradients) -> Diagnosis:
        name = _name(seen)
        return self.diagnose(
            headline=f"every update of {name} contains the gradient of another optimizer's loss",
            confidence="likely",
            step=seen.step,
            where=seen.backward,
            label=_label(seen),
            also=also(
                (seen.stray_backward, "leaves gradients on the layers that it passes through"),
                (seen.zero_grad, "clears them only after they were used"),
                (seen.built if _share_a_line(seen) else None, "the optimizer whose gradients these are"),
                where=seen.backward,
            ),
            culprit=Culprit(op="zero_grad", phase="optimizer"),
            evidence=(
                f"in {seen.strayed} of {seen.turns} updates, nothing cleared the gradients of {name} between the other "
                f"optimizer's step{_at(seen)} and its own backward",
                f"what was left is {seen.share:.2g} times as large as what its own loss adds (cosine "
                f"{seen.agreement:.2f})",
                "the other loss needs these layers only to reach the parameters behind them",
            ),
            remedies=_remedies(seen),
        )


def _remedies(seen: StrayGradients) -> tuple[Remedy, ...]:
    if seen.backwards > 1:  # clearing before each of them would throw away what the others added
        return (
            Remedy(title="switch `requires_grad` of these parameters off while the other loss is computed"),
            Remedy(title="or take the other loss's gradients with `torch.autograd.grad`, for its own parameters only"),
        )
    return (
        Remedy(title=f"call {_call(seen)} right before the `backward()` of its own loss"),
        Remedy(title="or switch `requires_grad` of these parameters off while the other loss is computed"),
    )


def _label(seen: StrayGradients) -> str:
    if seen.stray_backward is None:
        return "adds to what was left"
    if _share_a_line(seen):
        return "adds to what it left itself, in the turn of the other optimizer"
    return f"adds to what line {seen.stray_backward.line} left"


def _share_a_line(seen: StrayGradients) -> bool:
    """Whether one line of a loop over optimizers runs the backward of both."""
    return seen.backward is not None and str(seen.backward) == str(seen.stray_backward)


def _variable(seen: StrayGradients) -> str:
    """`opt_d`, as the line that clears it writes it."""
    before = seen.zero_grad.source.partition(".zero_grad(")[0].strip() if seen.zero_grad is not None else ""
    return before if before.replace(".", "_").isidentifier() else ""


def _name(seen: StrayGradients) -> str:
    """As the line that clears it says; where that line serves all optimizers, as the line that built it does."""
    if not _share_a_line(seen):
        return f"`{_variable(seen) or seen.optimizer}`"
    given, _, value = seen.built.source.partition("=") if seen.built is not None else ("", "", "")
    given = given.strip()
    return f"`{given}`" if value and given.replace(".", "_").isidentifier() else f"`{seen.optimizer}`"


def _call(seen: StrayGradients) -> str:
    return f"`{_variable(seen) or 'optimizer'}.zero_grad()`"


def _at(seen: StrayGradients) -> str:
    return f" (line {seen.other_stepped.line})" if seen.other_stepped is not None else ""
