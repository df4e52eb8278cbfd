"""A `GradScaler` that steps an optimizer none of whose parameters has a gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code, dotted
from torchmedic.rules.wiring._scaler import Loop, ScalerCall, loop_of


class ScalerWithoutGradient(Rule):
    """Between `backward` and `step` the gradients were cleared, or `backward` never reached these parameters."""

    code = "WIR121"
    name = "scaler-without-gradient"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`No inf checks were recorded for this optimizer`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        showed = user_line(crash) if crash is not None else None
        if crash is None or showed is None or not said(crash, "No inf checks were recorded for this optimizer"):
            return
        loop = loop_of(crash, Code.of(run))
        step = (
            next((call for call in loop.calls("step") if call.place.line == loop.failing.line), None) if loop else None
        )
        optimizer = ast.unparse(step.node.args[0]) if step is not None and step.node.args else "the optimizer"
        cleared = _cleared(loop, step) if loop is not None and step is not None else None
        built = loop.code.last_assignment(optimizer, loop.failing) if loop is not None else None
        where = cleared or showed
        yield self.diagnose(
            headline=f"no parameter of `{optimizer}` has a gradient when the scaler steps it",
            confidence="proven" if cleared is None else "likely",
            step=crash.step,
            where=where,
            label="clears the gradients before they are used" if cleared is not None else "nothing to unscale",
            also=also(
                (built.location if built is not None else None, "its parameters are chosen here"),
                (showed, "the scaler finds nothing"),
                but=where,
            ),
            culprit=Culprit(phase="optimizer", op="step"),
            evidence=("every `.grad` is None: the loss does not reach them, or they were cleared after `backward`",),
            remedies=(Remedy(title=_cure(cleared)),),
        )


def _cleared(loop: Loop, step: ScalerCall) -> Location | None:
    """A `zero_grad` between the last `backward` above the step and the step itself."""
    calls = [node for node in loop.nodes() if isinstance(node, ast.Call) and node.lineno < step.place.line]
    backwards = [node.lineno for node in calls if dotted(node.func).endswith("backward")]
    clearing = [node for node in calls if dotted(node.func).endswith("zero_grad")]
    after = [node for node in clearing if backwards and node.lineno > max(backwards)]
    return loop.code.place(step.place.file, after[-1]) if after else None


def _cure(cleared: Location | None) -> str:
    if cleared is not None:
        return "move `zero_grad` to before `backward`, or to after `step`"
    return "give the optimizer the parameters of the model that is trained, and call `backward` before `step`"
