"""A `training_step` that returns something from which Lightning cannot take a loss."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._frameworks import methods_of, subclass_of
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code


class TrainingStepWithoutLoss(Rule):
    """The returned value is a dict without `loss`, or no tensor at all."""

    code = "ERR081"
    name = "training-step-without-loss"
    symptoms = (Symptom.CRASH,)
    tell_apart = "Lightning says what `training_step` must return"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, r"`training_step` (returns a dict, the 'loss' key|must return a Tensor)")
        owner = subclass_of(run, "LightningModule")
        if crash is None or found is None or owner is None:
            return
        place, node = owner
        step = methods_of(node).get("training_step")
        if step is None:
            return
        returned = [n for n in ast.walk(step) if isinstance(n, ast.Return) and n.value is not None]
        where = Code.of(run).place(place.file, returned[-1]) if returned else Code.of(run).place(place.file, step)
        text = ast.unparse(returned[-1].value) if returned and returned[-1].value is not None else ""
        without_key = "key" in found.group(1)
        yield self._told(crash, node.name, where, text, without_key)

    def _told(self, crash: Crash, owner: str, where: Location, text: str, without_key: bool) -> Diagnosis:
        keys = re.findall(r"'(\w+)':", text)
        shown = f"`{text}`" if text and len(text) <= 40 else "its result"
        what = f"{shown}, which is no tensor"
        if without_key:
            what = " and ".join(f"`{key}`" for key in keys[:3]) + " but no `loss`" if keys else "no key `loss`"
        first = (
            Remedy(title="return the loss itself, or put it into the dict under the key `loss`")
            if without_key
            else Remedy(title="return the loss tensor with its graph: no `.item()`, `float(…)` or `.numpy()`")
        )
        return self.diagnose(
            headline=f"`{owner}.training_step` returns {what}",
            confidence="proven",
            where=where,
            label="Lightning calls `backward` on the loss it finds here",
            also=also((user_line(crash), "fitted here"), but=where),
            culprit=Culprit(module=owner, phase="forward"),
            remedies=(first, Remedy(title="note other numbers with `self.log(name, value)` instead of returning them")),
        )
