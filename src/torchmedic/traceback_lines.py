"""What one line of a pasted traceback is: a header, a frame, source, an exception, a joint between two of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

HEADER = "Traceback (most recent call last)"
LONGEST_LINE = 2000

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_STREAM = re.compile(r"^(\[(?:rank|default)?\d+\]:?|\((?:[\w.-]+ )?(?:pid=)?\d+(?:, ip=[\d.]+)?\)(?= ))")
_CAUSE = "The above exception was the direct cause of the following exception"
_CONTEXT = "During handling of the above exception, another exception occurred"

_PYTHON = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<func>.+))?$')
_IPYTHON = re.compile(r"^File (?P<file>[^\s\"].*?):(?P<line>\d+)(?:, in (?P<func>.+))?$")
_CELL = re.compile(r"^\s*(?:Cell|Input) In ?\[(?P<cell>\d+)\](?:, line (?P<line>\d+))?(?:, in (?P<func>.+))?$")
_OLD_IPYTHON = re.compile(r"^(?P<file><ipython-input-[^>]+>|(?:~|/|[A-Za-z]:\\)\S*\.pyx?) in (?P<func>.+)$")
_RICH = re.compile(r"^(?P<file>(?:/|~|[A-Za-z]:[\\/]|<).*?):(?P<line>\d+) in (?P<func>.+)$")
_CELL_LINE = re.compile(r"<(?:cell line|module): (\d+)>|<cell line: (\d+)>")

_ARROW = re.compile(r"^-+> ?(?P<line>\d+) ?(?P<source>.*)$")
_RICH_ARROW = re.compile(r"^\s*[❱>]\s*(?P<line>\d+)\s*[│|]?(?P<source>.*)$")
_EXCEPTION = re.compile(r"^(?P<name>[A-Za-z_][\w.]*(?:<locals>\.[\w.]+)?)(?::(?: (?P<message>.*))?)?$")
_SURE_NAME = re.compile(r"(?:Error|Exception|Interrupt|Exit|Warning|StopIteration|NotFound|Timeout|Refusal)\w*$")

_LIBRARY = re.compile(
    r"(?i)[\\/](?:site|dist)-packages[\\/]|[\\/]lib(?:64)?[\\/]python\d|[\\/]python\d+[\\/]lib[\\/]|"
    r"[\\/]Python\.framework[\\/]|[\\/](?:ana|mini)conda\d?[\\/](?:envs[\\/][^\\/]+[\\/])?lib[\\/]"
)


@dataclass(frozen=True)
class FrameLine:
    """A line that names a place; `line` is 0 where a later line carries the number.

    `numbered` says that the source below it has line numbers, with an arrow at the one meant.
    """

    file: str
    line: int
    function: str
    numbered: bool = False


def without_colours(line: str) -> str:
    """The line without terminal codes."""
    return _ANSI.sub("", line)


def split_stream(line: str) -> tuple[str, str]:
    """The label of the process a line came from, and the rest.

    >>> split_stream("[rank1]:   File x")
    ('[rank1]:', '   File x')
    """
    match = _STREAM.match(line)
    return (match.group(1), line[match.end() :]) if match else ("", line)


def joint(line: str) -> str:
    """`cause` or `context` for the sentences that join two tracebacks, else nothing."""
    if _CAUSE in line:
        return "cause"
    return "context" if _CONTEXT in line else ""


def frame_line(line: str) -> FrameLine | None:
    """The place a line names, in any of the forms of Python, IPython and Rich."""
    text = line[:LONGEST_LINE].rstrip()
    for pattern in (_PYTHON, _IPYTHON, _CELL, _OLD_IPYTHON, _RICH):
        match = pattern.match(text)
        if match is not None:
            return _frame_from(match, numbered=pattern is not _PYTHON and not text[:1].isspace())
    return None


def _frame_from(match: re.Match[str], numbered: bool) -> FrameLine:
    found = match.groupdict()
    function = found.get("func") or ""
    number = _number(found.get("line"))
    cell = _CELL_LINE.match(function)
    if cell is not None:
        number = number or _number(cell.group(1) or cell.group(2))
        function = "<module>"
    file = found.get("file") or f"Cell In[{found.get('cell')}]"
    return FrameLine(file=file, line=number, function=_bare(function), numbered=numbered)


def _bare(function: str) -> str:
    """`forward(self, x)` is the function `forward`."""
    name = function.split("(")[0].strip()
    return "<module>" if name in ("<cell line", "") and function else name


def _number(text: str | None) -> int:
    """Absurdly long digits are no line number."""
    return int(text) if text and len(text) <= 9 else 0


def numbered_source(line: str) -> tuple[int, str] | None:
    """`----> 5 code` of IPython and `❱ 5 │ code` of Rich."""
    text = line[:LONGEST_LINE]
    match = _ARROW.match(text) or _RICH_ARROW.match(text)
    return None if match is None else (_number(match.group("line")), match.group("source").lstrip("│ ").rstrip())


def is_carets(line: str) -> bool:
    return bool(line.strip()) and not line.strip("~^ ")


def caret_column(line: str) -> int:
    """Where the marks of a caret line begin, from 0."""
    return len(line) - len(line.lstrip())


def exception_line(line: str, *, sure: bool = False) -> tuple[str, str] | None:
    """The exception's name and the first line of its message; `sure` where nothing else says that it is one.

    >>> exception_line("ValueError: too many values to unpack (expected 2)")
    ('ValueError', 'too many values to unpack (expected 2)')
    """
    match = _EXCEPTION.match(line[:LONGEST_LINE].rstrip())
    if match is None:
        return None
    name = match.group("name")
    last = name.rpartition(".")[2]
    if sure and not _SURE_NAME.search(last):
        return None
    if not last or not (last[0].isupper() or "." in name or last.endswith("error")):
        return None
    return name, line.rstrip()[match.start("message") :] if match.group("message") else ""


def box_content(line: str) -> str:
    """A line of a Rich box without its borders."""
    bare = line.strip().removesuffix("│").removesuffix("┃").removesuffix("|").rstrip()
    return bare[1:].removeprefix(" ") if bare[:1] in ("│", "┃", "|") else bare


def is_box_edge(line: str) -> bool:
    return line.lstrip()[:1] in ("╭", "┌", "╰", "└") or line.lstrip().startswith("+---")


def is_library(file: str) -> bool:
    """Whether a path belongs to Python or to an installed package.

    >>> is_library("/opt/env/lib/python3.12/site-packages/torch/nn/modules/linear.py"), is_library("train.py")
    (True, False)
    """
    if file.startswith("<"):
        return not file.startswith("<ipython-input")
    return bool(_LIBRARY.search(file))
