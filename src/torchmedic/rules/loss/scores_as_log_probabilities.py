"""`kl_div` or `ctc_loss` of raw scores: both want logarithms of probabilities, and neither checks it."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import always, given_range, seen


class ScoresAsLogProbabilities(Rule):
    """The first argument has positive values, which no logarithm of a probability has."""

    code = "LOS060"
    name = "scores-as-log-probabilities"
    symptoms = (Symptom.LOSS_NEGATIVE, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the loss goes below 0, and what it is given does not sum to 1 after `exp`"
    needs = (LossCall,)
    folds = ("loss-term-without-floor",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, ("kl_div", "ctc_loss"), _is_raw):
            made = _is_probability(call)
            missing = "log()" if made else f"log_softmax(dim={-1 if call.function == 'ctc_loss' else 1})"
            last = [c.loss for c in run.all(LossCall) if c.where == call.where and c.loss is not None]
            went = f"; the loss went from {last[0]:.3g} to {last[-1]:.3g}" if len(last) > 1 else ""
            yield self.diagnose(
                headline=f"`{call.function}` is given {'probabilities' if made else 'raw scores'}, not logarithms of "
                "probabilities",
                confidence="proven",
                step=call.step,
                where=call.where,
                label="no `log_softmax` before this loss",
                culprit=Culprit(op=call.function, phase="forward", tensor=call.names[0]),
                evidence=(
                    f"in {seen(times)}, `{call.names[0]}` is in {given_range(call)}, and its rows are no logarithms of "
                    f"probabilities",
                    f"`{call.function}` takes them for such, and does not check{went}",
                ),
                remedies=(Remedy(title=f"give it `{call.names[0]}.{missing}`"),),
            )


def _is_probability(call: LossCall) -> bool:
    return bool(call.sums_to_one) and not call.is_log


def _is_raw(call: LossCall) -> bool:
    if call.function == "ctc_loss":
        was_read = call.given_spread is not None and call.given.dtype in ("float32", "float64")
        return was_read and not (call.is_log and len(call.given.shape) - 1 in call.sums_to_one)
    # Probabilities into `kl_div` have a rule of their own.
    return call.given.maximum is not None and call.given.maximum > 1e-3 and not _is_probability(call)
