"""A Lightning checkpoint that does not know with which arguments its module was built."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code


class CheckpointWithoutHyperparameters(Rule):
    """`load_from_checkpoint` builds the module again, and an argument of `__init__` is in no place it knows."""

    code = "ERR084"
    name = "checkpoint-without-hyperparameters"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`load_from_checkpoint` misses an argument of `__init__`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, r"(?:(\w+)\.)?__init__\(\) missing (\d+) required \S+ arguments?: (.+)")
        where = user_line(crash) if crash is not None else None
        if crash is None or found is None or where is None or "load_from_checkpoint" not in where.source:
            return
        owner, missing = found.group(1) or "the module", found.group(3).strip()
        names = missing.replace("'", "`")
        built = _constructor(run, owner)
        yield self.diagnose(
            headline=f"the checkpoint does not hold {names}, which `{owner}.__init__` needs",
            confidence="proven",
            where=built or where,
            label="arguments that no checkpoint keeps by itself",
            also=also((where, "loaded here"), but=built),
            culprit=Culprit(module=owner, phase="setup", parameter=missing.replace("'", "")),
            evidence=("arguments of `__init__` are saved only after `self.save_hyperparameters()`",),
            remedies=(
                Remedy(title="call `self.save_hyperparameters()` in `__init__`, and train again"),
                Remedy(
                    title=f"for this checkpoint, pass them: `{owner}.load_from_checkpoint(path, {_given(missing)})`"
                ),
            ),
        )


def _constructor(run: Run, owner: str) -> Location | None:
    found = Code.of(run).function("__init__", owner)
    return Code.of(run).place(*found) if found is not None else None


def _given(missing: str) -> str:
    return ", ".join(f"{name}=…" for name in missing.replace("'", "").replace(" and ", ", ").split(", ") if name)
