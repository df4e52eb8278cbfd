"""The fresh layer of a fine-tuned model has a tiny rate, and a part that was trained before the full one."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import NewLayerHeldBack, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, listed, short


class NewLayerHeldBackRule(Rule):
    """All new layers are in a group whose rate is a fiftieth or less of that of a group without any."""

    code = "TRN075"
    name = "new-layer-held-back"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT, Symptom.WEIGHTS_STILL)
    tell_apart = "the layer that was put in last hardly moves, and a group of old layers has the higher rate"
    needs = (NewLayerHeldBack,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(NewLayerHeldBack):
            new, old = (names[0].rpartition(".")[0] or names[0] for names in (seen.new, seen.old))
            before = "loaded" if seen.was_loaded else "trained before"
            yield self.diagnose(
                headline=f"the new `{short(new)}` has lr {seen.rate:.2g}, the old `{short(old)}` {seen.others:.2g}",
                confidence="likely",
                where=seen.where or seen.born,
                label=f"lr {seen.rate:.2g} is for the group with the new layer",
                also=also((seen.born, f"`{short(new)}` is new here"), where=seen.where),
                culprit=Culprit(op=seen.optimizer, parameter=seen.new[0], phase="optimizer", tensor="lr"),
                evidence=(
                    f"new, in the slow group: {listed(seen.new)}"
                    + (f", beside {seen.fellows} parameters that were {before}" if seen.fellows else ""),
                    f"in the fast group, all of them {before}: {listed(seen.old)}",
                    f"the new layer begins at random and learns {seen.others / seen.rate:,.0f} times more slowly",
                ),
                remedies=(
                    Remedy(
                        title=f"select the new layer by its own name: `name.startswith({_quoted(new)})`",
                        detail="part of a name is found in others too",
                    ),
                    Remedy(title="or by identity: compare `id(p)` with those of the layer's own parameters"),
                ),
            )


def _quoted(name: str) -> str:
    return f'"{name}."'
