"""A LightningModule without `training_step` or `configure_optimizers`, or with one of them under another name."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._frameworks import methods_of, subclass_of
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code


class MissingLightningHook(Rule):
    """`Trainer.fit` did not find a method that it needs."""

    code = "ERR080"
    name = "missing-lightning-hook"
    symptoms = (Symptom.CRASH,)
    tell_apart = "Lightning says that no `training_step()` or `configure_optimizers()` is defined"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, r"No `(training_step|configure_optimizers|\w+_step)\(\)` method defined")
        if crash is None or found is None:
            return
        hook = found.group(1)
        owner = subclass_of(run, "LightningModule")
        if owner is None:
            return
        place, node = owner
        methods = methods_of(node)
        near = next(iter(difflib.get_close_matches(hook, methods, n=1, cutoff=0.7)), "")
        where = Code.of(run).place(place.file, methods[near]) if near else place
        only = f", only `{near}`" if near else ""
        yield self.diagnose(
            headline=f"`{node.name}` has no `{hook}`{only}",
            confidence="proven",
            where=where,
            label="not the name that Lightning calls" if near else f"this class has no `{hook}`",
            also=also((user_line(crash), "fitted here"), but=where),
            culprit=Culprit(module=node.name, phase="setup"),
            evidence=(f"its methods are {', '.join(f'`{m}`' for m in methods)}",),
            remedies=(Remedy(title=f"rename `{near}` to `{hook}`" if near else _cure(hook)),),
        )


def _cure(hook: str) -> str:
    if hook == "configure_optimizers":
        return "define `configure_optimizers(self)` and return an optimizer over `self.parameters()`"
    return f"define `{hook}(self, batch, batch_idx)`; `training_step` returns the loss"
