"""`torch.load` refused an object that plain weights do not contain."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, FileAtCrash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, said, user_line

_GLOBAL = r"(?:GLOBAL|global) (?P<name>[\w.]+) was not an allowed global"


class RefusedPickle(Rule):
    """A checkpoint holds a class that the safe loader does not know."""

    code = "ERR054"
    name = "refused-pickle"
    symptoms = (Symptom.CRASH,)
    tell_apart = "UnpicklingError: `Weights only load failed` with an `Unsupported global`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or not said(crash, "Weights only load failed"):
            return
        found = said(crash, _GLOBAL, r"Unsupported (?:global|class):? (?P<name>[A-Za-z_][\w.]+)")
        if found is None:
            return
        name = found.group("name")
        file = run.last(FileAtCrash)
        yield self.diagnose(
            headline=f"the checkpoint holds `{name}`, a class that `torch.load` refuses",
            confidence="proven",
            where=user_line(crash),
            label=f"reads `{file.path}`" if file is not None else "",
            culprit=Culprit(phase="setup", field=name),
            evidence=tuple(_evidence(name)),
            remedies=tuple(_remedies(name)),
        )


def _evidence(name: str) -> Iterator[str]:
    yield "unpickling a class can run any code, so `torch.load` (since 2.6) takes tensors and plain containers only"
    if name.startswith("numpy"):
        yield "a NumPy scalar or array was saved beside the weights, for example a best score"
    elif name.startswith("__main__"):
        yield "an object of a class of the script was saved, perhaps the whole model instead of its `state_dict()`"


def _remedies(name: str) -> Iterator[Remedy]:
    module, _, last = name.rpartition(".")
    if name.startswith("numpy"):
        yield Remedy(title="save plain numbers: `float(score)` or `.item()`, and tensors instead of arrays")
    elif module.startswith("torch.nn") or module == "__main__":
        yield Remedy(title="save `model.state_dict()` and load it into a model that the script builds")
    what = last if module == "__main__" else name
    yield Remedy(
        title=f"for a file from a source you trust, allow this one class: `torch.serialization.safe_globals([{what}])`",
        detail="as a context around `torch.load`; `weights_only=False` would allow every class, and so any code",
    )
