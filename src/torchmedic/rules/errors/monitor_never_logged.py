"""A callback that waits for a metric under a name that nothing logs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._following import given_for, texts_behind, written_under
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code

_MISSED = (
    r"(?P<who>Early stopping) conditioned on metric `?(?P<name>[^`\s]+)`? which is not available.*?following: "
    r"(?P<logged>.*)",
    r"(?P<who>ReduceLROnPlateau) conditioned on metric `?(?P<name>[^`\s]+)`? which is not available.*?are: "
    r"\[(?P<logged>.*?)\]",
    r"(?P<who>ModelCheckpoint)\(monitor='(?P<name>[^']+)'\)` could not find the monitored key in the returned metrics: "
    r"\[(?P<logged>.*?)\]",
    r"`(?P<who>metric_for_best_model)` training argument is set to '(?P<name>[^']+)', which is not found in the "
    r"evaluation metrics.*?are: \[(?P<logged>.*?)\]",
)
# Who monitors, and where it is told what: the classes, their argument, and its position.
_TOLD = {
    "Early stopping": (("EarlyStopping",), "monitor", 0),
    "ModelCheckpoint": (("ModelCheckpoint",), "monitor", 2),
    "metric_for_best_model": (("TrainingArguments", "Seq2SeqTrainingArguments"), "metric_for_best_model", -1),
    "ReduceLROnPlateau": (("LRSchedulerConfig",), "monitor", -1),
}


class MonitorNeverLogged(Rule):
    """Early stopping, a checkpoint or a scheduler monitors a name that was never given to `self.log`."""

    code = "ERR085"
    name = "monitor-never-logged"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the exception names a metric that is not available, and those that are"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, *_MISSED)
        if crash is None or found is None:
            return
        who, name = found["who"], found["name"]
        logged = re.findall(r"[`'\"]([^`'\"]+)[`'\"]", found["logged"].partition("\n")[0])
        where = _told_at(Code.of(run), who, name) or user_line(crash)
        near = next(iter(difflib.get_close_matches(name, logged, n=1, cutoff=0.6)), "")
        listed = ", ".join(f"`{one}`" for one in logged) or "nothing"
        yield self.diagnose(
            headline=f"`{name}` is monitored, but what is logged is {listed}"
            if len(listed) < 50
            else f"`{name}` is monitored, but never logged",
            confidence="proven",
            where=where,
            mark=next((m for m in (f'"{name}"', f"'{name}'") if where is not None and m in where.source), ""),
            label=f"waits for `{name}`",
            also=also((user_line(crash), "fitted here"), but=where),
            culprit=Culprit(field=name, phase="setup"),
            evidence=(f"logged so far: {listed}",),
            remedies=(
                Remedy(title=f"monitor `{near}`" if near else f"monitor one of {listed}"),
                Remedy(title=f'or return it from `compute_metrics`: `{{"{name.removeprefix("eval_")}": value}}`')
                if who == "metric_for_best_model"
                else Remedy(title=f'or log it in `validation_step`: `self.log("{name}", value)`'),
            ),
        )


def _told_at(code: Code, who: str, name: str) -> Location | None:
    """Where the one that monitors is told this name; the place where it is made, if what it is told cannot be read."""
    classes, argument, position = _TOLD[who]
    given = [(at, value) for at, call in code.calls(*classes) if (value := given_for(call, argument, position))]
    if who == "ReduceLROnPlateau":
        given += written_under(code, argument)
    read = [(code.place(at.file, value), [text for _, text in texts_behind(code, value, at)]) for at, value in given]
    exact = [at for at, texts in read if name.removeprefix("eval_") in {t.removeprefix("eval_") for t in texts}]
    unread = [at for at, texts in read if not texts]
    return exact[0] if exact else unread[0] if len(unread) == 1 else None
