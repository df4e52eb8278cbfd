"""A padding mask the wrong way round: the words are left out and the padding is attended to."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import MaskSeen, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_MEANING = {
    "key_padding_mask": "in `key_padding_mask`, True means: leave this token out",
    "mask": "`masked_fill` overwrites the scores where the mask is True",
    "attn_mask": "in `attn_mask`, True means: attend to this token",
    "attention_mask": "in `attention_mask`, 0 means: leave this token out",
}


class AttentionMaskInverted(Rule):
    """Every token but the padding is masked."""

    code = "WIR081"
    name = "attention-mask-inverted"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the places that attention may look at hold nothing but the padding token"
    needs = (MaskSeen,)
    folds = ("answers-unrelated-to-targets", "vanishing-gradients")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = [seen for seen in run.all(MaskSeen) if seen.how == "inverted"]
        if not found or len({seen.step for seen in found}) < 2:
            return
        seen = found[0]
        where = seen.where or seen.made
        told = seen.made is not None and seen.made != where
        yield self.diagnose(
            headline=f"`{seen.argument}` is inverted: attention sees only the padding token {seen.padding}",
            confidence="proven",
            step=seen.step,
            where=where,
            label=f"the {seen.tokens} real tokens of the batch are masked",
            also=(Also(location=seen.made, why="the mask is made here"),) if told and seen.made else (),
            culprit=Culprit(op=seen.op, phase="forward", tensor=seen.made_text or seen.argument),
            evidence=(
                f"of {seen.tokens + seen.fillers} places, the {seen.tokens} that hold other tokens are left out and "
                f"the {seen.fillers} that hold {seen.padding} are kept",
                _MEANING[seen.argument],
            ),
            remedies=(Remedy(title=f"turn the mask round: `{_turned(seen)}`"),),
        )


def _turned(seen: MaskSeen) -> str:
    text = seen.made_text or seen.argument
    return text.replace("!=", "==") if "!=" in text else f"~({text})"
