"""`.numpy()` on a tensor that is part of a graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules._code import receiver
from torchmedic.rules.errors._reading import also, crash_in, quoted, said, tensors_on_line, user_line
from torchmedic.rules.errors._syntax import Code, dotted

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
        kept = _kept_at(run, crash, line) if grad else None
        if kept is not None:
            yield self._kept(line, *kept)
            return
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

    def _kept(self, line: Location, name: str, kept: Location, item: str, is_number: bool) -> Diagnosis:
        """A list of tensors that still hang on their graphs."""
        cure = f"{receiver(item)}.item()" if is_number else f"{receiver(item)}.detach()"
        source = kept.source.split("  #")[0].strip()
        changed = source.replace(f"({item})", f"({cure})", 1)
        return self.diagnose(
            headline=f"`{name}` holds tensors that are part of a graph, and cannot become a NumPy array",
            confidence="proven",
            where=kept,
            mark=item if f"({item})" in kept.source else "",
            label="kept with its graph",
            also=also((line, "made an array here"), but=kept),
            culprit=Culprit(tensor=name, op="numpy", phase="forward"),
            remedies=(
                Remedy(
                    title=f"keep `{cure}`: it holds no graph, and the graphs of all steps need memory",
                    diff=f"- {source}\n+ {changed}" if changed != source else None,
                ),
            ),
        )


def _kept_at(run: Run, crash: Crash, line: Location) -> tuple[str, Location, str, bool] | None:
    """The list on the failing line whose members need gradients, the one line that fills it, and with what."""
    code = Code.of(run)
    for name, tensor in tensors_on_line(run, crash.user_frame):
        owner, bracket, _ = name.partition("[")
        if not bracket or not tensor.requires_grad:
            continue
        places = {(place.file, place.line): place for place in code.stores_into(owner.rpartition(".")[2])}
        fills = [
            n
            for place in places.values()
            for statement in code.statements(place)
            for n in ast.walk(statement)
            if isinstance(n, ast.Call) and dotted(n.func) == f"{owner}.append" and len(n.args) == 1
        ]
        if len(places) == len(fills) == 1 and isinstance(fills[0].args[0], ast.Name):
            return owner, next(iter(places.values())), fills[0].args[0].id, tensor.numel == 1
    return None
