"""Gradients that fade from layer to layer until the first ones learn nothing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from torchmedic.facts import GradientsByDepth, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_FAINT = 1e-6
_LEAST_LAYERS = 4


class VanishingGradients(Rule):
    """Every layer passes a fraction of the gradient on, and there are many of them."""

    code = "TRN005"
    name = "vanishing-gradients"
    severity = "warning"
    symptoms = (Symptom.LOSS_FLAT, Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW)
    tell_apart = "the gradient shrinks from layer to layer towards the input, by more than a millionfold in all"
    needs = (GradientsByDepth,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = run.first(GradientsByDepth)
        if seen is None:
            return
        typical = [
            math.exp(sum(math.log(s) for s in sizes) / len(sizes)) if min(sizes) > 0 else 0.0 for sizes in seen.sizes
        ]
        known = [i for i, size in enumerate(typical) if size > 0]
        if len(known) < _LEAST_LAYERS:
            return
        faint = min(known, key=lambda i: typical[i])
        strong = max((i for i in known if i >= faint), key=lambda i: typical[i])
        between = [i for i in known if faint <= i <= strong]
        if (
            len(between) < _LEAST_LAYERS
            or not _fades(seen, faint, strong)
            or not _steadily([typical[i] for i in between])
            or not _fades_without_its_worst([typical[i] for i in between])
        ):
            return
        share = typical[faint] / typical[strong]
        per_layer = share ** (1 / (len(between) - 1))
        yield self.diagnose(
            headline=f"the gradient of `{seen.names[faint]}` is {share:.0e} times that of `{seen.names[strong]}`",
            confidence="proven",
            step=seen.steps[-1],
            where=seen.built[faint] or seen.built[strong],
            label="built here",
            culprit=Culprit(phase="backward", parameter=seen.names[faint]),
            evidence=(
                f"so it was at steps {', '.join(str(s + 1) for s in seen.steps)}: a typical element of the gradient is "
                f"{typical[faint]:.1e} in `{seen.names[faint]}` and {typical[strong]:.1e} in `{seen.names[strong]}`",
                f"each of the {len(between) - 1} layers between them passes on about {per_layer:.2g} of what it gets",
                "the first layers keep nearly their random values; only the last ones learn",
            ),
            remedies=(
                Remedy(title="use ReLU or GELU instead of sigmoid or tanh between the layers"),
                Remedy(title="add residual connections (`x = x + block(x)`) or a norm layer in each block"),
                Remedy(title="or use fewer layers"),
            ),
        )


def _fades(seen: GradientsByDepth, faint: int, strong: int) -> bool:
    """Faint at every step looked at, not only at the start."""
    pairs = zip(seen.sizes[faint], seen.sizes[strong], strict=True)
    return all(low < _FAINT * high for low, high in pairs)


def _steadily(sizes: list[float]) -> bool:
    """Rising from the first layer to the last but for a few exceptions: one odd layer is another trouble."""
    rising = sum(a < b for a, b in itertools.pairwise(sizes))
    return rising >= 0.75 * (len(sizes) - 1)


def _fades_without_its_worst(sizes: list[float]) -> bool:
    """Whether the other layers fade as well when the largest drop is left out: a fade is the work of many."""
    drops = sorted(low / high for low, high in itertools.pairwise(sizes))
    return math.prod(drops[1:]) < math.sqrt(_FAINT)
