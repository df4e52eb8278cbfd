"""An averaged model whose normalisation layers were never given statistics."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import AverageSeen, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class AverageWithoutStatistics(Rule):
    """Weights are averaged, buffers are left: the copy is evaluated with mean 0 and variance 1."""

    code = "WIR085"
    name = "average-without-statistics"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the model itself scores well, and its average scores like a new model"
    needs = (AverageSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(AverageSeen):
            # A teacher that no line averages into may be a new model by intent.
            if not seen.stale or seen.evaluated_at is None or not (seen.moved or seen.by_torch):
                continue
            layers = ", ".join(f"`{name}`" for name in seen.stale[:3])
            more = f" and {len(seen.stale) - 3} more" if len(seen.stale) > 3 else ""
            yield self.diagnose(
                headline=f"`{seen.name}` is evaluated with the `running_mean` and `running_var` of a new model",
                confidence="proven",
                where=seen.updated or seen.built,
                label="averages the parameters and leaves the buffers",
                also=also((seen.evaluated_at, "it is evaluated here"), (seen.built, "it is made here")),
                culprit=Culprit(module=seen.name, parameter=f"{seen.stale[0]}.running_mean"),
                evidence=(
                    f"after {seen.trained} steps, `running_mean` is 0 and `running_var` 1 in {layers}{more} of it, not "
                    f"so in `{seen.model}`",
                ),
                remedies=(
                    Remedy(title="copy the buffers at each update: `for a, b in zip(ema.buffers(), model.buffers())`"),
                    Remedy(title="or run `torch.optim.swa_utils.update_bn(loader, ema)` before it is evaluated"),
                ),
            )
