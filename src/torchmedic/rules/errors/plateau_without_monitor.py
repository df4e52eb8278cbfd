"""A scheduler of Lightning's that waits for a metric which nobody has named."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code, dotted


class PlateauWithoutMonitor(Rule):
    """`configure_optimizers` returns a `ReduceLROnPlateau` and does not say what it should look at."""

    code = "ERR273"
    name = "plateau-without-monitor"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`configure_optimizers` must include a monitor"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or said(crash, r"must include a monitor when a `?ReduceLROnPlateau") is None:
            return
        code, line = Code.of(run), user_line(crash)
        returned = _returned(code)
        where = returned or line
        logged = _logged(code)
        name = logged or "val_loss"
        yield self.diagnose(
            headline="`ReduceLROnPlateau` is returned without the name of the metric that it should look at",
            confidence="proven",
            where=where,
            label="no `monitor` here" if returned is not None else "",
            also=also((line, "fitted here"), but=where),
            culprit=Culprit(phase="setup", op="ReduceLROnPlateau", field="monitor"),
            evidence=(f"`{logged}` is logged by this module",) if logged else (),
            remedies=(
                Remedy(
                    title="return a dictionary that names a logged metric",
                    diff=f'+ return {{"optimizer": optimizer, "lr_scheduler": {{"scheduler": scheduler, '
                    f'"monitor": "{name}"}}}}',
                ),
            ),
        )


def _returned(code: Code) -> Location | None:
    found = code.function("configure_optimizers")
    returns = [n for n in ast.walk(found[1]) if isinstance(n, ast.Return)] if found is not None else []
    return code.place(found[0], returns[-1]) if found is not None and returns else None


def _logged(code: Code) -> str:
    """A loss of the validation that the module logs, else the first name it logs."""
    names = [
        str(call.args[0].value)
        for _, call in code.calls("log")
        if dotted(call.func) == "self.log" and call.args and isinstance(call.args[0], ast.Constant)
    ]
    return next((n for n in names if "val" in n and "loss" in n), names[0] if names else "")
