"""A model whose weights come from a checkpoint is evaluated with the BatchNorm statistics of a new one."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FreshNorms, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, listed


class NormStatisticsNotLoaded(Rule):
    """The checkpoint holds parameters only: `running_mean` and `running_var` are buffers."""

    code = "WIR127"
    name = "norm-statistics-not-loaded"
    symptoms = (Symptom.CHECKPOINT_DIFFERS, Symptom.SCORE_LOW)
    tell_apart = "after loading, `running_mean` is 0 and `running_var` 1 in layers whose weights are trained"
    needs = (FreshNorms,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = run.first(FreshNorms)
        if seen is None:
            return
        where = seen.saved or seen.loaded
        yield self.diagnose(
            headline=f"`{seen.model}` was loaded without `running_mean` and `running_var` of {listed(seen.layers, 2)}",
            confidence="proven",
            step=seen.step,
            where=where,
            label="the statistics are not in here" if seen.saved else "loads weights, and no statistics",
            also=also((seen.loaded, "loads it"), (seen.evaluated, "evaluated with those of a new model"), where=where),
            culprit=Culprit(module=seen.layers[0], parameter=f"{seen.layers[0]}.running_mean".lstrip(".")),
            evidence=(
                f"in {len(seen.layers)} of {seen.of} BatchNorm layers the weights are trained, the mean is 0, the "
                "variance 1 and no batch was ever counted",
                "in evaluation these take the place of the batch's own mean and variance",
            ),
            remedies=(
                Remedy(title="save `model.state_dict()`: it holds the buffers too, `named_parameters()` does not"),
                Remedy(
                    title="load with `strict=True` and the saved dictionary itself, so that missing keys are an error"
                ),
            ),
        )
