"""A saved optimizer whose groups of parameters are not those of the new one."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code

_MESSAGES = (
    r"parameter group that doesn't match the size of optimizer\W?s group",
    r"has a different number of parameter\s+groups",
)
_OPTIMIZERS = ("SGD", "Adam", "AdamW", "NAdam", "RAdam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "LBFGS", "Rprop")


class OptimizerGroupsDiffer(Rule):
    """The optimizer was built over other parameters than the one that was saved."""

    code = "ERR067"
    name = "optimizer-groups-differ"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`optimizer.load_state_dict` says that parameter groups differ in size or number"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        if crash is None or line is None or said(crash, *_MESSAGES) is None:
            return
        built = _built(Code.of(run))
        where = built or line
        number = said(crash, _MESSAGES[1]) is not None
        yield self.diagnose(
            headline="the saved optimizer has another number of parameter groups than this one"
            if number
            else "the saved optimizer holds another number of parameters than this one",
            confidence="proven",
            where=where,
            label="built over other parameters than before" if built is not None else "",
            also=also((line, "its state is loaded here"), but=where),
            culprit=Culprit(phase="setup", op="optimizer"),
            evidence=(
                "its state is kept by position: parameter for parameter, group for group",
                "freezing layers, adding layers or splitting groups in between changes the count",
            ),
            remedies=(
                Remedy(title="give it the same parameters as when it was saved: build it before freezing"),
                Remedy(title="or do not load its state where other parameters are to be trained, and begin anew"),
            ),
        )


def _built(code: Code) -> Location | None:
    """The line that builds the optimizer, where there is one only."""
    lines = {(place.file, place.line): place for place, _ in code.calls(*_OPTIMIZERS)}
    return next(iter(lines.values())) if len(lines) == 1 else None
