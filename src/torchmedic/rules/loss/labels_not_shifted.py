"""A causal language model that is asked for the token it is looking at."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TokensAhead
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_SEEN = 2


class LabelsNotShifted(Rule):
    """The targets are the inputs, and each answer is computed from its own input and those before it."""

    code = "LOS042"
    name = "labels-not-shifted"
    symptoms = (Symptom.LOSS_ZERO, Symptom.SCORE_TOO_GOOD)
    tell_apart = "later positions are hidden from the model, yet the target is the token at the same position"
    needs = (TokensAhead,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(TokensAhead))
        copying = [seen for seen in found if seen.offset == 0 and max(seen.seen, default=-1) == seen.position]
        if len(copying) < _LEAST_SEEN or len(copying) != len(found):
            return
        yield self._fed_to_decoder(copying) if copying[0].decoder_at is not None else self._met_by_loss(copying)

    def _met_by_loss(self, copying: list[TokensAhead]) -> Diagnosis:
        seen = copying[0]
        target = seen.names[1]
        return self.diagnose(
            headline=f"`{target}` is the input itself: the model learns to copy, not to predict",
            confidence="proven",
            step=seen.step,
            where=seen.where,
            label="each answer meets the token that it was computed from",
            culprit=Culprit(op="cross_entropy", phase="forward", tensor=target),
            evidence=(
                f"in {len(copying)} steps every target was the input token at the same position",
                f"followed back by its gradient, the answer at position {seen.position} depends on that token, and on "
                "none after it: the model was built to predict what comes next",
            ),
            remedies=(Remedy(title="shift by one before flattening: `logits[:, :-1]` against `tokens[:, 1:]`"),),
        )

    def _fed_to_decoder(self, copying: list[TokensAhead]) -> Diagnosis:
        seen = copying[0]
        return self.diagnose(
            headline="`decoder_input_ids` are the labels, not shifted: the decoder learns to copy",
            confidence="proven",
            step=seen.step,
            where=seen.decoder_at,
            mark="decoder_input_ids",
            label="each position is shown the token that it must predict",
            culprit=Culprit(op="cross_entropy", phase="forward", tensor="decoder_input_ids"),
            evidence=(
                f"in {len(copying)} steps every one of the `labels` was the decoder's input at the same position",
                f"followed back by its gradient, the answer at position {seen.position} depends on that token",
            ),
            remedies=(
                Remedy(title="leave `decoder_input_ids` out: from `labels` the model makes them by itself, shifted"),
                Remedy(title="or begin them with the start token and cut off the last one"),
            ),
        )
