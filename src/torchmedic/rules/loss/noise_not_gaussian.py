"""A diffusion is trained on noise from 0 to 1, where its sampler starts from Gaussian noise."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, UniformNoise
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_LEAST_STEPS = 2


class NoiseNotGaussian(Rule):
    """The noise that the model is to find is uniform, and was blended in as noise of mean 0 and variance 1 would be."""

    code = "LOS143"
    name = "noise-not-gaussian"
    symptoms = (Symptom.SCORE_LOW, Symptom.SCORE_TOO_GOOD)
    tell_apart = "the target of the loss is a draw of `rand` or `rand_like`, which was blended into the input"
    needs = (UniformNoise,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(UniformNoise))
        seen = found[0] if len({each.step for each in found}) >= _LEAST_STEPS else None
        if seen is None:
            return
        yield self.diagnose(
            headline=f"the noise of the diffusion is uniform: `{seen.function}` draws from 0 to 1",
            confidence="likely",
            step=seen.step,
            where=seen.where,
            mark=seen.expression,
            label="mean 0.5, variance 1/12, and never below 0",
            also=also(
                (seen.blended, "blended into the data here"), (seen.compared, "and asked for here"), where=seen.where
            ),
            culprit=Culprit(op=seen.function, phase="forward"),
            evidence=(
                f"the squares of the two weights of the blend add up to 1 in each of {len(found)} steps looked at, "
                "which keeps the variance where noise has mean 0 and variance 1",
                "the loss looks good, as such noise is easy to guess; a sampler that starts from `randn` begins where "
                "the model has never been",
            ),
            remedies=(Remedy(title=f"draw Gaussian noise: `{seen.function.replace('rand', 'randn')}` for this line"),),
        )
