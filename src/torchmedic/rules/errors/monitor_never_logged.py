"""A callback that waits for a metric under a name that nothing logs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._frameworks import written_call
from torchmedic.rules.errors._reading import also, crash_in, said, user_line


class MonitorNeverLogged(Rule):
    """Early stopping, a checkpoint or a scheduler monitors a name that was never given to `self.log`."""

    code = "ERR085"
    name = "monitor-never-logged"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the exception names a metric that is not available, and those that are"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(
            crash,
            r"conditioned on metric `?([^`\s]+)`? which is not available.*?(?:following|are): (.*)",
            r"monitor='([^']+)'\)` could not find the monitored key in the returned metrics: \[(.*?)\]",
        )
        if crash is None or found is None:
            return
        name = found.group(1)
        logged = re.findall(r"[`'\"]([^`'\"]+)[`'\"]", found.group(2))
        callback = written_call(run, crash, "EarlyStopping", "ModelCheckpoint")
        where = callback.place if callback is not None else user_line(crash)
        near = next(iter(difflib.get_close_matches(name, logged, n=1, cutoff=0.6)), "")
        listed = ", ".join(f"`{one}`" for one in logged) or "nothing"
        yield self.diagnose(
            headline=f"`{name}` is monitored, but what is logged is {listed}"
            if len(listed) < 50
            else f"`{name}` is monitored, but never logged",
            confidence="proven",
            where=where,
            label=f"waits for `{name}`",
            also=also((user_line(crash), "fitted here"), but=where),
            culprit=Culprit(field=name, phase="setup"),
            evidence=(f"logged so far: {listed}",),
            remedies=(
                Remedy(title=f"monitor `{near}`" if near else f"monitor one of {listed}"),
                Remedy(title=f'or log it in `validation_step`: `self.log("{name}", value)`'),
            ),
        )
