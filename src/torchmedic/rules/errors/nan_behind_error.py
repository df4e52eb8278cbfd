"""NaN or infinity that surfaces as an error about something else."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, ModelAtCrash, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, layer_in, layer_name, said, tensors, user_line

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
        bad = [(n, t) for f in crash.frames for n, t in tensors(f) if f.is_user and _is_bad(t)]
        bad += [(n, t) for n, t in tensors(crash.frames[-1]) if _is_bad(t) and not crash.frames[-1].is_user]
        weights = [f"{m.name}.{p}" for m in run.all(ModelAtCrash) for p in m.non_finite]
        if not bad and not weights:
            return
        layer = layer_in(crash)
        name = bad[-1][0] if bad else weights[0]
        counted = _count(bad[-1][1]) if bad else "NaN or infinite"
        first = crash.message.partition("\n")[0][:60].rstrip(". ")
        yield self.diagnose(
            headline=f"`{name}` is {counted}; the error `{first}` only follows from it",
            confidence="proven",
            where=line,
            label="NaN arrives here",
            culprit=Culprit(
                tensor=name,
                parameter=weights[0] if weights else None,
                module=layer_name(layer) if layer else None,
                phase="forward",
            ),
            evidence=tuple(_evidence(bad, weights)),
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


def _evidence(bad: list[tuple[str, TensorSummary]], weights: list[str]) -> Iterator[str]:
    for name, t in dict(bad).items():
        yield f"`{name}` {t}: {_count(t)}"
    if weights:
        yield f"parameters that are not finite: {', '.join(f'`{w}`' for w in weights[:5])}"
