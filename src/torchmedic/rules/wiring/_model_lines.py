"""Lines of a model's own source, found by what they name."""

from __future__ import annotations

import re

from torchmedic.facts import Location, Run, SourceFile


def line_that_uses(run: Run, parameter: str, *, within: str = "") -> Location | None:
    """The user's line that calls the module of a parameter, or goes through the list that it is in.

    With `within`, only a line that has these words as well.
    """
    name = rf"\bself\.{re.escape(parameter.split('.')[0])}\b"
    builds = re.compile(rf"{name}\s*(?::[^=]*)?=[^=]|{name}\.(?:append|add_module)")
    lines = [
        Location(file=file.file, line=number, source=line)
        for file in run.all(SourceFile)
        for number, line in enumerate(file.text.splitlines(), start=1)
        if re.search(name, line) and within in line and not builds.search(line)
    ]
    calling = (at for at in lines if re.search(rf"{name}\s*[(\[.]", at.source))
    return next(calling, None) or next(iter(lines), None)
