"""One real token is left out of every label: a language model that never learns to end."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import IgnoredToken, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class TokenNeverLearned(Rule):
    """The token that pads is the one that ends a text, so that the collator takes both out of the labels."""

    code = "LOS051"
    name = "token-never-learned"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "of all tokens that are read, exactly one never occurs among the labels"
    needs = (IgnoredToken,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = run.first(IgnoredToken)
        if seen is None or seen.where is None:
            return
        yield self.diagnose(
            headline=f"token {seen.token} ends real texts and is masked with -100 in every label",
            confidence="proven",
            where=seen.where,
            mark=seen.text,
            label="the padding is a token that texts contain",
            culprit=Culprit(op="cross_entropy", phase="data", tensor="labels"),
            evidence=(
                f"in the first {seen.batches} batches the attention mask keeps it {seen.times} times, and its label "
                f"was -100 each time; every other token is asked for",
                "generation stops at this token, and the model is never taught to put it out",
            ),
            remedies=(
                Remedy(title="add a padding token of its own: `tokenizer.add_special_tokens({'pad_token': '[PAD]'})`"),
                Remedy(title="or make labels by the attention mask: -100 only where it is 0"),
            ),
        )
