"""Complex values that are put into a real tensor, or cast to one: half of what they say is gone."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ImaginaryDropped, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Severity, Symptom
from torchmedic.rules.numerics._reading import short
from torchmedic.rules.wiring._telling import also, counted


class ImaginaryPartDropped(Rule):
    """What lies on the way to the loss loses its imaginary part, which was not 0."""

    code = "NUM051"
    name = "imaginary-part-dropped"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "torch warns that `Casting complex values to real discards the imaginary part`"
    needs = (ImaginaryDropped,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(ImaginaryDropped):
            where = seen.made if seen.stored and seen.made is not None else seen.where
            severity: Severity = "error" if seen.stored else "warning"
            yield self.diagnose(
                headline=_headline(seen),
                confidence="proven",
                severity=severity,
                step=seen.step,
                where=where,
                mark=seen.made_text if where == seen.made else seen.text,
                label=f"a real tensor: {seen.dtype}" if where == seen.made else "complex values become real here",
                also=also((seen.where, "complex values are put into it here"), where=where),
                culprit=Culprit(op="copy" if seen.stored else "cast", phase="forward", tensor=seen.name or None),
                evidence=(
                    f"the imaginary part is {seen.share:.0%} as large as the whole; in one step it is dropped "
                    f"{counted(seen.times, 'time')}",
                    "torch says so once in a run, in a warning: what is left has lost its phase",
                ),
                remedies=tuple(_remedies(seen)),
            )


def _headline(seen: ImaginaryDropped) -> str:
    if seen.stored:
        name = f"`{seen.name}`" if seen.name else "the tensor"
        return f"{name} is real: the imaginary part of what is put into it is dropped"
    return f"`{short(seen.text)}` drops the imaginary part of complex values"


def _remedies(seen: ImaginaryDropped) -> Iterator[Remedy]:
    if seen.stored:
        yield Remedy(title=f"make `{seen.name or 'it'}` complex: `dtype=torch.cfloat` where it is made")
        yield Remedy(title="or store what is meant: `.real`, or `.abs()`")
    else:
        yield Remedy(title="keep the values complex: `.to(torch.cfloat)`")
        yield Remedy(title="or say which part is meant: `.real`, `.abs()`, or both by `torch.view_as_real`")
