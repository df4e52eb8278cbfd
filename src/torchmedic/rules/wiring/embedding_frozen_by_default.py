"""Given word vectors have a group of the optimizer to themselves, and `from_pretrained` has frozen them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FrozenGroup, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, listed, short


class EmbeddingFrozenByDefault(Rule):
    """An optimizer has a group for an embedding whose constructor switched the gradient off without being told to."""

    code = "WIR117"
    name = "embedding-frozen-by-default"
    severity = "warning"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW)
    tell_apart = (
        "the embedding was built by `from_pretrained` without `freeze=False`, and the optimizer has a group for it"
    )
    needs = (FrozenGroup,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(FrozenGroup):
            name = seen.parameters[0]
            yield self.diagnose(
                headline=f"`from_pretrained` freezes `{short(name)}`, which `{seen.optimizer}` is to train",
                confidence="likely",
                step=seen.step,
                where=seen.where,
                mark=seen.expression,
                label="`freeze` is True unless told otherwise",
                also=also((seen.built, _group(seen)), where=seen.where),
                culprit=Culprit(parameter=name, op="from_pretrained", phase="setup"),
                evidence=(
                    f"`requires_grad` is False for all parameters of a group of `{seen.optimizer}`, and no line of the "
                    f"script switches it on: {listed(seen.parameters)}",
                ),
                remedies=(
                    Remedy(title="to train the vectors, pass `freeze=False` to `from_pretrained`"),
                    Remedy(title="to keep them as they are, leave them out of the optimizer"),
                ),
            )


def _group(seen: FrozenGroup) -> str:
    return f"given a group with the learning rate {seen.lr:g}" if seen.lr is not None else "given a group of its own"
