"""Native code crashed: a segmentation fault, an abort, a bus error."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ChildDeath, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._native import frames_of, own_frame

_MEANING = {
    "SIGSEGV": "native code read or wrote memory that is not its own",
    "SIGABRT": "native code called `abort`, after a failed check or an exception nobody caught",
    "SIGBUS": "memory that was promised could not be had: /dev/shm is full, or a mapped file was cut",
    "SIGFPE": "an integer was divided by zero in native code",
    "SIGILL": "the processor does not know an instruction: a wheel was built for a newer one",
}


class NativeCrash(Rule):
    """The fault handler's stack tells the last Python line."""

    code = "ERR061"
    name = "native-crash"
    symptoms = (Symptom.DEATH,)
    tell_apart = "`Segmentation fault`, `Aborted`, `Bus error`; the status is 139, 134 or 135"
    needs = (ChildDeath,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        death = run.last(ChildDeath)
        if death is None or death.name not in _MEANING:
            return
        stack = list(frames_of(death.native_stack, run.info.cwd))
        where = own_frame(stack)
        inner = stack[0] if stack else None
        also = (Also(location=inner, why="the innermost Python frame"),) if inner and where and inner != where else ()
        yield self.diagnose(
            headline=f"native code ended the process ({death.name})" + (f" in `{inner.function}`" if inner else ""),
            confidence="proven" if where is not None else "likely",
            where=where,
            label="the last line of the script that ran",
            also=also,
            culprit=Culprit(op=inner.function if inner else None),
            evidence=(_MEANING[death.name],),
            remedies=tuple(_remedies(death.name)),
        )


def _remedies(name: str) -> Iterator[Remedy]:
    if name == "SIGBUS":
        yield Remedy(title="give more shared memory (`--shm-size`), or use `num_workers=0`")
        return
    if name == "SIGILL":
        yield Remedy(title="install builds made for this processor")
        return
    yield Remedy(title="look at the arguments of that line: sizes, indices, freed or read-only memory")
    yield Remedy(title="check that compiled packages match this torch: `torchmedic env`")
