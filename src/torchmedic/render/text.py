"""A verdict for the terminal: headline, code window, notes, what was ruled out, help."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from torchmedic.facts import Location
from torchmedic.findings import Diagnosis, Remedy, Verdict
from torchmedic.render.interventions import skip_words, stop_words
from torchmedic.render.spoken import spoken_diagnosis, spoken_exception
from torchmedic.translation import chosen, said, template
from torchmedic.translation.typesetting import breaks

_COLOURS = {"error": "bold red", "warning": "bold yellow", "hint": "bold cyan"}
_TAB = 4
# Data and messages may hold what a terminal takes for commands: shown as pictures, these are harmless.
_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
_SAID = {"proven": "", "likely": "probably", "possible": "possibly"}


def draw(verdict: Verdict, console: Console, *, report: str = "") -> None:
    """Print a verdict and where its report is; a healthy run gets one line."""
    for diagnosis in verdict.diagnoses:
        draw_diagnosis(diagnosis, console)
    for line in verdict.unexplained:
        _draw_unexplained(line, console)
    if not verdict.diagnoses and not verdict.unexplained:
        told = f"; report: {report}" if report else ""
        console.print(Text(said(f"torchmedic: {_nothing_found(verdict)}{told}"), style="green"), soft_wrap=True)
    elif report:
        console.print(Text(said(f"torchmedic: report: {report}")), soft_wrap=True)


def _nothing_found(verdict: Verdict) -> str:
    """Silence is judged by what was seen: a script without training is not called healthy."""
    steps, status = verdict.info.steps, verdict.info.exit_code
    if steps and verdict.info.was_interrupted:
        # Somebody had a reason to, which nothing of what was seen tells.
        return f"interrupted after {steps} optimizer steps, nothing found until then"
    ended = f" (the script ended with status {status})" if status else ""
    return (
        f"healthy, {steps} optimizer steps watched{ended}" if steps else f"no training seen, nothing to report{ended}"
    )


def draw_occupied(console: Console) -> None:
    """Say why a second watch is silent."""
    line = "torchmedic: a watch is running already and sees this too; its `.stop()` ends it and tells what it saw"
    console.print(Text(said(line)), soft_wrap=True)


def draw_interventions(verdict: Verdict, console: Console, *, way_on: str = "--on-sick continue") -> None:
    """Say what we did to the run: that it was us who ended it, how to let it go on, and where its remains are."""
    for words in filter(None, (skip_words(verdict.info), stop_words(verdict.info, way_on))):
        console.print(Text("torchmedic" + _colon() + words), soft_wrap=True)
    if verdict.info.stopped_by_us:
        console.print(Text(said(f"torchmedic: what the run left is in {verdict.info.folder}")), soft_wrap=True)


def draw_diagnosis(diagnosis: Diagnosis, console: Console) -> None:
    """Print one diagnosis in the slots of the house: headline, window, note, ruled out, help, more."""
    diagnosis = spoken_diagnosis(diagnosis)
    colour = _COLOURS[diagnosis.severity]
    head = Text(f"{said(diagnosis.severity)}[{diagnosis.code}]", style=colour)
    confidence = _SAID[diagnosis.confidence]
    head.append(_colon() + (said(confidence) + _colon() if confidence else "") + diagnosis.headline, style="bold")
    _print(console, head, indent=2)
    gutter = 1
    if diagnosis.where is not None:
        gutter = len(str(diagnosis.where.line))
        _draw_window(diagnosis.where, diagnosis.mark, diagnosis.label, gutter, console, colour)
    for also in diagnosis.also:
        gutter = max(gutter, len(str(also.location.line)))
        _draw_window(also.location, "", also.why, gutter, console, "blue", arrow=":::")
    for note in diagnosis.evidence:
        _slot(console, gutter, "note", note)
    if diagnosis.ruled_out:
        suspects = _listed([(r.suspect, r.how) for r in diagnosis.ruled_out])
        _slot(console, gutter, "ruled out", suspects)
    for remedy in diagnosis.remedies:
        _slot(console, gutter, "help", _help(remedy))
        for line in (remedy.diff or "").splitlines():
            _print(console, Text(" " * (gutter + 5) + line, style=_diff_colour(line)), indent=gutter + 7)
    _slot(console, gutter, "more", f"torchmedic explain {diagnosis.code}")
    console.print()


def _draw_window(
    where: Location, mark: str, label: str, gutter: int, console: Console, colour: str, arrow: str = "-->"
) -> None:
    inside = (
        " " + template("in {function}").format(function=where.function)
        if where.function and where.function != "<module>"
        else ""
    )
    pad = " " * gutter
    _print(console, Text(f"{pad}{arrow} {_place(where)}{inside}", style="blue"), indent=gutter + 4)
    source, mark = where.source.rstrip().translate(_PICTURES), mark.translate(_PICTURES)
    if not source.strip():
        if label:
            _print(console, Text(f"{pad} = {label}"), indent=gutter + 3)
        return
    console.print(Text(f"{pad} |", style="blue"))
    line = Text(f"{where.line:>{gutter}} | ", style="blue")
    line.append(source.expandtabs(_TAB), style="default")
    console.print(line, soft_wrap=True)
    start, length = _columns(source, *marked(source, mark))
    if gutter + 3 + start + length > console.width:
        # The source line runs on beyond the edge, and so do its carets; what they say stands below.
        console.print(Text(f"{pad} | " + " " * start + "^" * length, style=colour), soft_wrap=True)
        start, length = _columns(source, source.find(source.strip()), 0)
    carets = Text(f"{pad} | ", style="blue")
    carets.append(" " * start + " ".join(filter(None, ("^" * length, label))), style=colour)
    _print(console, carets, indent=gutter + 3, margin=Text(f"{pad} | ", style="blue"))


def _place(where: Location) -> str:
    """A file alone where no line is meant: data need not have lines."""
    return str(where) if where.line else where.file


def _columns(source: str, start: int, length: int) -> tuple[int, int]:
    """Places in a text as columns of the terminal, where a Chinese character takes two and a tab several."""
    before = cell_len(source[:start].expandtabs(_TAB))
    return before, cell_len(source[: start + length].expandtabs(_TAB)) - before


def marked(source: str, mark: str) -> tuple[int, int]:
    """Where the carets go: under the marked text, or under the whole statement."""
    at = source.find(mark) if mark else -1
    if at >= 0:
        return at, len(mark)
    stripped = source.strip()
    code = stripped.split("  #")[0].rstrip() or stripped
    return source.find(stripped), len(code)


def _colon() -> str:
    return "：" if chosen() else ": "


def _listed(remarks: list[tuple[str, str]]) -> str:
    """Things, each with a remark."""
    return "；".join(f"{a}（{b}）" for a, b in remarks) if chosen() else "; ".join(f"{a} ({b})" for a, b in remarks)


def _help(remedy: Remedy) -> str:
    if remedy.detail:
        return remedy.title + ("；" if chosen() else "; ") + remedy.detail
    return _listed([(remedy.title, said("tried on the failing step: it works"))]) if remedy.verified else remedy.title


def _diff_colour(line: str) -> str:
    return {"+": "green", "-": "red"}.get(line[:1], "default")


def _slot(console: Console, gutter: int, name: str, text: str) -> None:
    line = Text(" " * gutter + " = ", style="blue")
    title = template(f"{name}: ")
    line.append(title, style="bold")
    line.append(text)
    _print(console, line, indent=gutter + 3 + cell_len(title))


def _draw_unexplained(line: str, console: Console) -> None:
    head = Text(said("not explained"), style="bold yellow")
    head.append(f"{_colon()}{spoken_exception(line)}")
    _print(console, head, indent=2)


def _print(console: Console, text: Text, indent: int, margin: Text | None = None) -> None:
    """Print wrapped to the console's width, and never cut a word that fits a line.

    Lines after the first hang below `indent`; the margin of a code window goes on beside them.
    """
    text.plain = text.plain.translate(_PICTURES)
    if text.cell_len <= console.width:
        console.print(text, soft_wrap=True)
        return
    lead = margin or Text(" " * indent)
    pieces = _folded(console, text, indent) if chosen() else _wrapped(console, text, indent)
    for number, line in enumerate(pieces):
        line.rstrip()
        console.print(lead + line if number else line, soft_wrap=True)


def _wrapped(console: Console, text: Text, indent: int) -> list[Text]:
    first = text.wrap(console, console.width)[0]
    rest = text[len(first) :]
    rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
    return [first, *rest.wrap(console, max(20, console.width - indent))]


def _folded(console: Console, text: Text, indent: int) -> list[Text]:
    """The same for Chinese, which has no spaces to wrap at."""
    return list(text.divide(list(breaks(text.plain, console.width, max(20, console.width - indent)))))
