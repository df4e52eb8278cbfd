r"""A Windows path in a plain string: `\N`, `\U` and `\x` begin an escape."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, said

_WORDS = r"\(unicode error\).*(?P<kind>malformed \\N|truncated \\[uUx])"
_STRING = re.compile(r"""(?<![\w\\])(?P<prefix>[fbuFBU]?)(?P<quote>["'])(?P<body>(?:\\.|(?!(?P=quote)).)*)(?P=quote)""")


class BrokenStringEscape(Rule):
    """A string literal that Python cannot read because of a backslash."""

    code = "ERR049"
    name = "broken-string-escape"
    symptoms = (Symptom.CRASH,)
    tell_apart = r"SyntaxError with `(unicode error) … malformed \N` or `truncated \UXXXXXXXX escape`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, _WORDS)
        if crash is None or crash.type_name != "SyntaxError" or found is None or crash.syntax is None:
            return
        escape = found.group("kind")[-2:]
        literal = _literal(crash.syntax.source, escape)
        column = crash.syntax.source.find(escape, crash.syntax.source.find(literal) if literal else 0) + 1
        yield self.diagnose(
            headline=f"`{escape}` in column {column} of {crash.syntax.file} begins an escape, not a folder's name",
            confidence="proven",
            where=crash.syntax,
            mark=literal or escape,
            label=f"`{escape}` in column {column}",
            culprit=Culprit(phase="setup", field=literal or None),
            evidence=(_meaning(escape),),
            remedies=tuple(_remedies(literal)),
        )


def _literal(source: str, escape: str) -> str:
    """The string literal of the line that holds the escape."""
    return next((m.group() for m in _STRING.finditer(source) if escape in m.group("body")), "")


def _meaning(escape: str) -> str:
    meanings = {"\\N": r"`\N{…}` names a character", "\\U": r"`\U` needs eight hexadecimal digits"}
    meanings |= {"\\u": r"`\u` needs four hexadecimal digits", "\\x": r"`\x` needs two hexadecimal digits"}
    return f"in a plain string {meanings.get(escape, 'a backslash begins an escape')}"


def _remedies(literal: str) -> Iterator[Remedy]:
    if literal:
        yield Remedy(title=f"make it a raw string: `r{literal}`")
        slashed = literal.replace("\\\\", "/").replace("\\", "/")
        yield Remedy(title=f"or write forward slashes, which Windows takes too: `{slashed}`")
    else:
        yield Remedy(title="put `r` before the string, or write forward slashes")
