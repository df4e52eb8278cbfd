"""A `GradScaler` whose `unscale_`, `step` and `update` do not follow each other once per update of the weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code
from torchmedic.rules.wiring._scaler import Loop, ScalerCall, loop_of

_MESSAGES = {
    "unscale_": r"unscale_\(\) (?:has already been called on this optimizer|is being called after step)",
    "step": r"step\(\) has already been called since the last update",
    "update": r"No inf checks were recorded prior to update",
    "scale": r"_scale is None|_growth_tracker is None",
}
_TURN = "a scaler goes round once per update of the weights: `scale`, `backward`, `unscale_`, `step`, `update`"


class _Fault(NamedTuple):
    headline: str
    where: Location | None
    label: str
    other: tuple[Location | None, str]
    remedy: str


class ScalerOutOfTurn(Rule):
    """Two calls of one round, or a call of the next round before this one is closed."""

    code = "WIR119"
    name = "scaler-out-of-turn"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`GradScaler` says that `unscale_` or `step` has already been called, or that nothing was checked"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        refused = next((method for method, words in _MESSAGES.items() if said(crash, words)), None)
        if crash is None or refused is None or not any("grad_scaler" in frame.location.file for frame in crash.frames):
            return
        loop = loop_of(crash, Code.of(run))
        showed = user_line(crash)
        if loop is None or showed is None:
            return
        fault = _fault(refused, loop, is_pasted=crash.source == "text")
        yield self.diagnose(
            headline=fault.headline,
            confidence="proven" if fault.where == showed or loop.failing == showed else "likely",
            step=crash.step,
            where=fault.where,
            label=fault.label,
            also=also(fault.other, (showed, "refused here"), but=fault.where),
            culprit=Culprit(op=refused, phase="optimizer"),
            evidence=(_TURN,),
            remedies=(Remedy(title=fault.remedy),),
        )


def _fault(refused: str, loop: Loop, *, is_pasted: bool) -> _Fault:
    if refused == "scale":
        return _never_scaled(loop)
    if refused == "update":
        return _updated_without_step(loop)
    updates = loop.calls("update")
    # Of a pasted traceback the other lines of the loop are not known.
    if not updates and not loop.anywhere("update") and not is_pasted:
        return _never_updated(refused, loop)
    # The line in the loop that led to the refused call, which may stand in a function of its own.
    at = loop.failing
    update = next((call for call in updates if call.place.line >= at.line), updates[-1] if updates else None)
    condition = loop.condition_only_around(update.place, but=at) if update is not None else None
    if update is not None and condition is not None:
        return _more_often(refused, at, update, condition)
    return _twice(refused, loop, at, update)


def _more_often(refused: str, at: Location, update: ScalerCall, condition: ast.If) -> _Fault:
    when = ast.unparse(condition.test)
    owner = update.text.rpartition(".update")[0]
    together = " together with the clipping" if refused == "unscale_" else ""
    return _Fault(
        headline=f"`{owner}.{refused}` runs in every pass of the loop, `{update.text}` does not",
        where=at,
        label=f"a second time before `{update.text}`",
        other=(update.place, "the round is closed here"),
        remedy=f"move `{refused}`{together} into the block of `if {when}`, so that both run once per update",
    )


def _twice(refused: str, loop: Loop, at: Location, update: ScalerCall | None) -> _Fault:
    """No condition parts the two: a line that leaves the update out, a second call, or the wrong order."""
    skip = loop.skip_between(at.line, update.place.line) if update is not None else None
    if update is not None and skip is not None:
        return _Fault(
            headline=f"`continue` leaves out `{update.text}` after `{refused}` has run",
            where=skip,
            label=f"the next pass meets a round that is still open: `{refused}` is refused",
            other=(update.place, "left out"),
            remedy=f"call `{update.text}` before `continue`; infinite gradients are left out by `step` itself",
        )
    first = next((call for call in loop.calls(refused) if call.place.line != at.line), None)
    stepped = next((call for call in loop.calls("step") if call.place.line < at.line), None)
    if refused == "unscale_" and stepped is not None and (update is None or at.line < update.place.line):
        return _Fault(
            headline="`unscale_` stands after `step`, which has unscaled and used the gradients already",
            where=at,
            label="too late",
            other=(stepped.place, "the gradients are used here"),
            remedy="move `unscale_` and the clipping up: after `backward`, before `step`",
        )
    return _Fault(
        headline=f"`{refused}` runs twice for one optimizer before `update`",
        where=at,
        label="the second time",
        other=(first.place if first is not None else None, "the first time"),
        remedy=f"call `{refused}` once per optimizer and `update` once, at the end of the round",
    )


def _never_updated(refused: str, loop: Loop) -> _Fault:
    step = next(iter(loop.calls("step")), None)
    owner = step.text.rpartition(".step")[0] if step is not None else "scaler"
    return _Fault(
        headline=f"`{owner}.update()` is never called: the second `{refused}` finds the first round still open",
        where=step.place if step is not None else loop.failing,
        label="no `update` follows" if step is not None else "refused in the second round",
        other=(loop.failing, "refused here"),
        remedy=f"call `{owner}.update()` after `{owner}.step(…)`",
    )


def _updated_without_step(loop: Loop) -> _Fault:
    at = loop.failing
    step = next(iter(loop.calls("step")), None)
    condition = loop.condition_only_around(step.place, but=at) if step is not None else None
    if step is not None and condition is not None:
        when = ast.unparse(condition.test)
        headline = f"`update` runs in every pass of the loop, `{step.text}` does not"
        remedy = f"move `update` into the block of `if {when}`"
    else:
        headline = "`update` runs although no `step` of the scaler came before it in this round"
        remedy = "step with `scaler.step(optimizer)` in place of `optimizer.step()`, then call `update`"
    return _Fault(headline, at, "nothing to update the scale from", (step.place if step else None, "the step"), remedy)


def _never_scaled(loop: Loop) -> _Fault:
    backward = next(
        (place for place, node in loop.code.calls("backward") if isinstance(node.func, ast.Attribute)), None
    )
    return _Fault(
        headline="the loss was never scaled: `backward` ran on the loss itself",
        where=backward or loop.failing,
        label="without `scaler.scale(…)`",
        other=(loop.failing, "the scaler is asked here"),
        remedy="write `scaler.scale(loss).backward()` in place of `loss.backward()`",
    )
