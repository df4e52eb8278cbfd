"""A start that is spent on waiting for other machines, on imports, or on weights."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import HostWait, Run, StartUp
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_WAIT = 4.0
_LEAST_IMPORT = 30.0
_LEAST_PART = 4.0


class SlowStart(Rule):
    """Seconds go by before the first step for a reason that can be removed."""

    code = "ENV012"
    name = "slow-start"
    severity = "hint"
    symptoms = (Symptom.SLOW_START,)
    tell_apart = "the parts of the start are timed: connecting, imports, `torch.load`"
    needs = (StartUp,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        start = run.first(StartUp)
        if start is None:
            return
        silent = [wait for wait in start.waits if wait.failed and wait.seconds >= _LEAST_WAIT]
        if silent:
            yield self._waiting(start, sorted(silent, key=lambda wait: -wait.seconds))
        elif sum(start.imports.values()) >= _LEAST_IMPORT and not start.crowded:
            yield self._importing(start)

    def _waiting(self, start: StartUp, silent: list[HostWait]) -> Diagnosis:
        worst = silent[0]
        lost = sum(wait.seconds for wait in silent)
        tries = f"{worst.failed} of {worst.attempts} attempts failed" if worst.attempts > 1 else "the attempt failed"
        return self.diagnose(
            headline=f"the start waited {lost:.0f} s for `{worst.host}`, which did not answer",
            confidence="proven",
            where=worst.at,
            label=f"{worst.seconds:.0f} s here",
            culprit=Culprit(phase="setup", module=worst.host),
            evidence=(tries, _parts(start)),
            remedies=(
                Remedy(title="load from local files: pass the path of the downloaded folder instead of a name"),
                Remedy(title="or keep libraries from asking: `HF_HUB_OFFLINE=1`, `local_files_only=True`"),
            ),
        )

    def _importing(self, start: StartUp) -> Diagnosis:
        name, seconds = next(iter(start.imports.items()))
        return self.diagnose(
            headline=f"imports took {sum(start.imports.values()):.0f} s, {seconds:.0f} s of them for `{name}`",
            confidence="proven",
            culprit=Culprit(phase="setup", module=name),
            evidence=(_parts(start),),
            remedies=(
                Remedy(title="put the Python environment on a local disk: network folders make imports slow"),
                Remedy(title=f"or import `{name}` only where it is used; `python -X importtime` shows each part"),
            ),
        )


def _parts(start: StartUp) -> str:
    """The start in its parts, largest first; those too short to matter are left out."""
    parts = [(f"waiting for {wait.host}", wait.seconds) for wait in start.waits]
    parts += [(f"import of {name}", seconds) for name, seconds in start.imports.items()]
    parts.append(("torch.load", start.weights))
    told = [
        f"{what} {seconds:.0f} s" for what, seconds in sorted(parts, key=lambda p: -p[1]) if seconds >= _LEAST_PART
    ][:5]
    until = "the first optimizer step" if start.reached_step else "the end of the script"
    return f"until {until}: " + ", ".join(told)
