"""A script that Python cannot read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, said

_CURES = (
    ("was never closed", "close the bracket: the line named here opened it, Python noticed far below"),
    ("unmatched", "take out the surplus closing bracket, or open it before"),
    ("does not match opening", "close brackets in the order in which they were opened, each with its own kind"),
    ("expected ':'", "end the line with `:`"),
    ("expected an indented block", "indent the body of the line above; `pass` stands for an empty one"),
    ("unindent does not match", "give all lines of the block the same indentation"),
    ("unexpected indent", "take the indentation back: no block begins above this line"),
    ("inconsistent use of tabs", "replace tabs by spaces in the whole file"),
    ("unterminated", "close the string with the quotes that opened it"),
    ("Perhaps you forgot a comma", "put a comma between the items"),
    ("Maybe you meant '=='", "compare with `==`; a single `=` assigns"),
    ("cannot assign to", "compare with `==`, or assign to a plain name"),
    ("non-printable character", "type the character again: a no-break space or similar came in by copying"),
    ("invalid character", "replace the typographic character by its plain form"),
    ("Missing parentheses in call to 'print'", "write `print(…)`: this is Python 3"),
    ("leading zeros", "write the number without leading zeros"),
    ("'return' outside function", "indent the `return` into its function"),
    ("'await' outside", "use `await` only in an `async def`"),
    ("keyword argument repeated", "give each keyword once"),
    ("positional argument follows keyword", "put positional arguments before keyword arguments"),
    ("non-default argument follows default", "put parameters with defaults last"),
    ("invalid decimal literal", "a name cannot begin with a digit"),
)
_NOT_UTF8 = r"Non-UTF-8 code starting with '(\\x\w\w)' in file (.+?) on line (\d+)"
_USUAL_CURE = "complete this line or the one above: a bracket, quote, comma or operator is missing, or one too many"


class SyntaxSlip(Rule):
    """A SyntaxError or IndentationError, with the usual cure for its message."""

    code = "ERR050"
    name = "syntax-slip"
    symptoms = (Symptom.CRASH,)
    tell_apart = "SyntaxError, IndentationError or TabError"
    needs = (Crash,)
    fallback = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or crash.type_name not in ("SyntaxError", "IndentationError", "TabError"):
            return
        if (bytes_ := said(crash, _NOT_UTF8)) is not None:
            yield self._not_utf8(bytes_[1], bytes_[2], int(bytes_[3]), crash.syntax)
            return
        cure = next((cure for words, cure in _CURES if words in crash.message), _USUAL_CURE)
        if crash.syntax is None:
            return
        words = crash.message.partition(" (")[0]
        yield self.diagnose(
            headline=f"`{crash.syntax.file}` cannot be read by Python: {words.rstrip('?')}",
            confidence="proven",
            where=crash.syntax,
            label=f"column {crash.syntax_column}" if crash.syntax_column else "",
            culprit=Culprit(phase="setup"),
            remedies=(Remedy(title=cure),),
        )

    def _not_utf8(self, byte: str, file: str, line: int, known: Location | None) -> Diagnosis:
        name = re.split(r"[\\/]", file)[-1]
        return self.diagnose(
            headline=f"`{name}` cannot be read by Python: the byte `{byte}` on line {line} is not UTF-8",
            confidence="proven",
            where=known or Location(file=file, line=line),
            label="saved in another encoding",
            culprit=Culprit(phase="setup"),
            remedies=(
                Remedy(title="save the file as UTF-8, as every editor can"),
                Remedy(title="or name its encoding in the first line: `# -*- coding: latin-1 -*-`"),
            ),
        )
