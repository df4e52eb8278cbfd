"""`.numpy()` on a tensor that is part of a graph."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, quoted, said, tensors_on_line, user_line

_GRAD = r"Can't call numpy\(\) on Tensor that requires grad"
_DEVICE = r"can't convert (\S+) device type tensor to numpy"


class NumpyOfGradTensor(Rule):
    """NumPy cannot carry a gradient, nor reach another device."""

    code = "ERR017"
    name = "numpy-of-grad-tensor"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message names `numpy()`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        match = said(crash, _GRAD, _DEVICE)
        if crash is None or line is None or match is None:
            return
        grad = match.re.pattern == _GRAD
        mentioned = tensors_on_line(run, crash.user_frame)
        fits = [(n, t) for n, t in mentioned if (t.requires_grad if grad else t.device not in ("cpu", "numpy"))]
        name = fits[0][0] if fits else "the tensor"
        insert = ".detach()" if grad else ".detach().cpu()"
        source = line.source.split("  #")[0].strip()
        changed = re.sub(r"\.numpy\(\)", f"{insert}.numpy()", source, count=1)
        form = f" ({fits[0][1].grad_fn}, shape {list(fits[0][1].shape)})" if fits and fits[0][1].grad_fn else ""
        yield self.diagnose(
            headline=f"{quoted(name)} "
            + (
                "is part of a graph and cannot become a NumPy array"
                if grad
                else f"is on {match[1]}, out of NumPy's reach"
            ),
            confidence="proven",
            where=line,
            mark=".numpy()" if ".numpy()" in line.source else "",
            culprit=Culprit(tensor=name, op="numpy", phase="forward"),
            evidence=(f"`{name}` has `requires_grad=True`{form}",) if grad and fits else (),
            remedies=(
                Remedy(
                    title=f"take it out of the graph first: `{name if fits else '…'}{insert}.numpy()`",
                    diff=f"- {source}\n+ {changed}" if changed != source else None,
                ),
                *([Remedy(title="for whole evaluations, run the model inside `torch.no_grad()`")] if grad else []),
            ),
        )
