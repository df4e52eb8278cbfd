"""TorchScript still takes a value for an Optional where the script knows that it is not None."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line

_WORDS = r"Expected a value of type '(\w+)' for argument '[\w()]+' but instead found type 'Optional\[\1\]'"
_CALL = re.compile(r'File "([^"\n]+)", line (\d+)\n(?:.*\n)*?(.*)\n( *)(~+)')


class OptionalNotNarrowed(Rule):
    """Only a test of the value itself, in the condition, tells the compiler that it is not None."""

    code = "ERR282"
    name = "optional-not-narrowed"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`torch.jit.script` says that it found `Optional[…]` where a value is expected"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        kind = said(crash, _WORDS)
        if crash is None or kind is None:
            return
        place, name = _call(crash)
        where = place or user_line(crash)
        yield self.diagnose(
            headline=f"`{name}` is `Optional[{kind[1]}]` to TorchScript here: it may be None"
            if name
            else f"`Optional[{kind[1]}]` is all that TorchScript knows where `{kind[1]}` is needed",
            confidence="proven",
            where=where,
            mark=name,
            label="not known to be there" if place is not None else "",
            also=also((user_line(crash), "compiled here"), but=where),
            culprit=Culprit(tensor=name or None, phase="setup", op="torch.jit.script"),
            evidence=("a condition that was kept in a variable tells the compiler nothing",),
            remedies=(
                Remedy(title=f"test it in the condition itself: `if {name or 'x'} is not None:`"),
                Remedy(title=f"or say so in the line before: `assert {name or 'x'} is not None`"),
            ),
        )


def _call(crash: Crash) -> tuple[Location | None, str]:
    """The line that the compiler quotes, and the name that it underlines there."""
    found = _CALL.search(crash.message)
    if found is None:
        return None, ""
    file, source, start = found[1], found[3], len(found[4])
    own = (frame.location.file for frame in crash.frames if frame.is_user)
    # The compiler writes the whole path; frames are named as the user would type them.
    shown = next((known for known in own if file == known or file.endswith(f"/{known}")), file)
    # Of a call the function is underlined, and what it is given stands behind it.
    name = re.match(r"(?:[\w.]+\()?\W?([A-Za-z_]\w*)[,)\s]", source[start:])
    return Location(file=shown, line=int(found[2]), source=source), name[1] if name is not None else ""
