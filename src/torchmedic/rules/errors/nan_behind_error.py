"""NaN or infinity that surfaces as an error about something else."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Location, ModelAtCrash, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import (
    also,
    crash_in,
    layer_in,
    layer_name,
    said,
    tensors,
    tensors_on_line,
    user_line,
)
from torchmedic.rules.errors._syntax import Code

_PATTERNS = (
    r"all elements of (?:input|target) should be between 0 and 1",
    r"(?:svd|eigh?|lstsq|linalg\.\w+).*(?:failed to converge|did not converge)",
    r"probability tensor contains either `?inf`?, `?nan`? or element < 0",
    r"to satisfy the constraint .*but found invalid values",
    r"(?:Input|array) (?:X |y |y_true |y_pred )?contains (?:NaN|infinity)",
    r"input contains nan|cannot convert float NaN to integer",
    r"array must not contain infs or NaNs",
    r"(?:cholesky|linalg\.\w+).*not positive-definite",
)


class NanBehindError(Rule):
    """The values that made a function fail are NaN or infinite."""

    code = "ERR026"
    name = "nan-behind-error"
    symptoms = (Symptom.CRASH, Symptom.LOSS_NAN, Symptom.WEIGHTS_NAN)
    tell_apart = "the frames of the error hold NaN or infinite values"
    needs = (Crash,)
    fallback = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        if crash is None or line is None or said(crash, *_PATTERNS) is None:
            return
        bad = {n: t for f in crash.frames if f.is_user for n, t in tensors(f) if _is_bad(t)}
        inner = {n: t for n, t in tensors(crash.frames[-1]) if _is_bad(t)} if not bad else {}
        weights = [f"{m.name}.{p}" for m in run.all(ModelAtCrash) for p in m.non_finite]
        if not bad and not inner and not weights:
            return
        layer = layer_in(crash)
        mentioned = [n for n, _ in tensors_on_line(run, crash.user_frame) if n in bad]
        name = [*mentioned, *bad, *inner, *weights][0]
        form = bad.get(name) or inner.get(name)
        dirty = _dirty(Code.of(run), crash, bad)
        where = dirty[1] if dirty is not None else line
        first = crash.message.partition("\n")[0][:60].rstrip(". ")
        yield self.diagnose(
            headline=f"{_count(form) + ' in ' if form else ''}`{name}`{'' if form else ' is NaN or infinite'} "
            "made this call fail",
            confidence="proven",
            where=where,
            label=f"`{dirty[0]}` is not finite from here on" if dirty is not None else "NaN arrives here",
            also=also((line, "and surfaces here"), but=where),
            culprit=Culprit(
                tensor=name,
                parameter=weights[0] if weights else None,
                module=layer_name(layer) if layer else None,
                phase="forward",
            ),
            evidence=(*_evidence(bad or inner, weights), f"the error `{first}` only follows from it"),
            remedies=(
                Remedy(title="look for the first NaN, not for this call: the step before this one made it"),
                Remedy(title="lower the learning rate or clip gradients if the weights grew; else check the data"),
            ),
        )


def _is_bad(t: TensorSummary) -> bool:
    return bool(t.nan) or bool(t.inf)


def _count(t: TensorSummary) -> str:
    parts = [f"{n} of {t.numel} values {word}" for n, word in ((t.nan, "NaN"), (t.inf, "infinite")) if n]
    return " and ".join(parts)


def _dirty(code: Code, crash: Crash, bad: dict[str, TensorSummary]) -> tuple[str, Location] | None:
    """The first variable that is no result of the model and holds NaN all the same, with the line that last set it."""
    for frame in (f for f in crash.frames if f.is_user):
        for name in (n for n, t in tensors(frame) if n in bad and not t.requires_grad and n.isidentifier()):
            bound = code.last_assignment(name, frame.location)
            changed = [p for p in code.item_assignments(name, frame.location) if p.line < frame.location.line]
            if bound is not None and bound.how == "assign":
                return name, changed[-1] if changed and changed[-1].line > bound.location.line else bound.location
    return None


def _evidence(bad: dict[str, TensorSummary], weights: list[str]) -> Iterator[str]:
    for name, t in list(bad.items())[:4]:
        yield f"`{name}` {t}: {_count(t)}"
    if weights:
        yield f"parameters that are not finite: {', '.join(f'`{w}`' for w in weights[:5])}"
