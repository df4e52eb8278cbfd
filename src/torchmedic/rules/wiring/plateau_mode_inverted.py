"""`ReduceLROnPlateau` waits for a score to fall: every improvement counts as a plateau."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Run, SchedulerSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted

_SCORE = re.compile(
    r"acc|f1|auc|score|iou|dice|recall|precision|bleu|psnr|ssim|\br2\b|reward|map\b|corr", re.IGNORECASE
)
_LOSS = re.compile(r"loss|mse|mae|err|rmse|nll|perplexity|ppl|bce", re.IGNORECASE)


class PlateauModeInverted(Rule):
    """The value handed to `step` is better when it goes the other way than `mode` says."""

    code = "WIR025"
    name = "plateau-mode-inverted"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the learning rate is cut while the value given to the scheduler improves"
    needs = (SchedulerSeen,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SchedulerSeen):
            if seen.type != "ReduceLROnPlateau" or not seen.cuts or len(seen.metrics) < 3:
                continue
            text = seen.metric_text
            as_score = seen.mode == "min" and bool(_SCORE.search(text)) and not _LOSS.search(text) and "-" not in text
            as_loss = seen.mode == "max" and bool(_LOSS.search(text)) and not _SCORE.search(text) and "-" not in text
            if not as_score and not as_loss:
                continue
            right = "max" if as_score else "min"
            first, last = seen.metrics[0], seen.metrics[-1]
            yield self.diagnose(
                headline=f"`ReduceLROnPlateau(mode='{seen.mode}')` is stepped with `{text}`, better when "
                + ("higher" if as_score else "lower"),
                confidence="likely",
                where=seen.built,
                label=f"`mode` is '{seen.mode}'",
                also=also((seen.stepped, f"stepped with `{text}` here")),
                culprit=Culprit(op="ReduceLROnPlateau", tensor=text, phase="optimizer"),
                evidence=(
                    f"`{text}` went from {first:.3g} to {last:.3g}, and the rate was cut {counted(seen.cuts, 'time')}, "
                    f"from {seen.first_lr:.3g} to {seen.last_lr:.2g}",
                ),
                remedies=(Remedy(title=f"build it with `mode='{right}'`, or step it with the loss"),),
            )
