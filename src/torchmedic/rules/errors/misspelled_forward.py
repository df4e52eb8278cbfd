"""`forward` under another name: `NotImplementedError` without a word of help."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, ModuleFact, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class MisspelledForward(Rule):
    """A module without `forward` was called."""

    code = "ERR001"
    name = "misspelled-forward"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the exception is NotImplementedError from torch's own `_forward_unimplemented`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = run.first(Crash)
        if crash is None or crash.type_name != "NotImplementedError" or "forward" not in crash.message:
            return
        frame = crash.module_frame
        if frame is None or frame.module is None:
            return
        module = frame.module
        near = _near_forward(module)
        where = module.methods[near] if near else module.defined
        call = crash.user_frame.location if crash.user_frame else None
        said = f"its methods are {_listed(module.methods)}" if module.methods else "it defines no method at all"
        yield self.diagnose(
            headline=f"`{module.type}` was called but has no `forward`" + (f", only `{near}`" if near else ""),
            confidence="proven",
            where=where or call,
            label="not the name that a call looks for" if near else "this class has no `forward`",
            also=_called_at(call, where),
            culprit=Culprit(module=module.path or module.type, phase="forward"),
            evidence=(said,),
            remedies=(Remedy(title=_cure(near)),),
        )


def _near_forward(module: ModuleFact) -> str:
    close = difflib.get_close_matches("forward", module.methods, n=1, cutoff=0.6)
    return close[0] if close else ""


def _listed(methods: dict[str, Location]) -> str:
    return ", ".join(f"`{name}`" for name in list(methods)[:8])


def _called_at(call: Location | None, where: Location | None) -> tuple[Also, ...]:
    return (Also(location=call, why="called here"),) if call and where and call != where else ()


def _cure(near: str) -> str:
    return f"rename `{near}` to `forward`" if near else "define `def forward(self, …)` in this class"
