"""A text file that is read, or a text that is written, in an encoding which is not its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run, UndecodableText
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_DECODE = r"'(?P<codec>[\w-]+)' codec can't decode bytes? 0x(?P<byte>\w\w)?.*? in position (?P<position>\d+)"
_ENCODE = r"'(?P<codec>[\w-]+)' codec can't encode characters? "
_READERS = ("open", "read_text", "read_csv", "read_table", "read_json", "genfromtxt", "loadtxt")
# The byte and place by which a message alone gives away that this is no text.
_STARTS = {("89", 0): "PNG", ("8b", 1): "gzip", ("80", 0): "pickle", ("93", 0): "NumPy"}


class UndecodableTextRule(Rule):
    """UnicodeDecodeError and UnicodeEncodeError, with the encoding in which the bytes do read."""

    code = "ERR270"
    name = "undecodable-text"
    symptoms = (Symptom.CRASH,)
    tell_apart = "UnicodeDecodeError or UnicodeEncodeError: `codec can't decode byte`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        read, written = said(crash, _DECODE), said(crash, _ENCODE)
        if crash is not None and read is not None:
            yield self._read(run, crash, read, run.last(UndecodableText))
        elif crash is not None and written is not None:
            yield self._written(crash, written)

    def _read(self, run: Run, crash: Crash, found: re.Match[str], seen: UndecodableText | None) -> Diagnosis:
        line = user_line(crash)
        opened = _opened(Code.of(run), line, seen.variable if seen is not None else "")
        where = opened or line
        codec, what = found["codec"], f"`{seen.file}`" if seen is not None and seen.file else "what is read here"
        form = seen.format if seen is not None else _STARTS.get((found["byte"] or "", int(found["position"])), "")
        usual = _usual(codec, found["byte"] or "", int(found["position"]))
        better = [name for name, _ in seen.reads_as] if seen is not None else [usual]
        is_sure = form or not better or (seen is not None and seen.is_sure)
        return self.diagnose(
            headline=f"{what} is no text but a {form} file, and is read as {codec}"
            if form
            else f"{what} is not {codec}" + (f", it reads as {' or '.join(better)}" if better and seen else ""),
            confidence="proven" if is_sure else "likely",
            where=where,
            label=f"opened as {codec}" if where is opened is not None else "",
            also=also((line, "read here"), but=where),
            culprit=Culprit(phase="setup", field=seen.file if seen is not None else None),
            evidence=tuple(_evidence(found, seen, opened)),
            remedies=tuple(_remedies(form, better, opened)),
        )

    def _written(self, crash: Crash, found: re.Match[str]) -> Diagnosis:
        return self.diagnose(
            headline=f"a text holds characters that {found['codec']} cannot write",
            confidence="proven",
            where=user_line(crash),
            evidence=("without `encoding=` a file, and the screen, take that of the system",),
            remedies=(
                Remedy(title='write as UTF-8: `open(path, "w", encoding="utf-8")`'),
                Remedy(title="for what is printed, set `PYTHONIOENCODING=utf-8` or `PYTHONUTF8=1`"),
            ),
        )


def _usual(codec: str, byte: str, position: int) -> str:
    """By the message alone: a system's own codec met a file of the web; UTF-8 met a file of an older system."""
    if codec.lower() not in ("utf-8", "utf8"):
        return "utf-8"
    return "utf-16" if byte in ("ff", "fe") and position == 0 else "gb18030"


def _opened(code: Code, line: Location | None, variable: str) -> Location | None:
    """The call that opened what is read on a line."""
    if line is None:
        return None
    for name in dict.fromkeys([variable, *code.names(line)]):
        bound = code.last_assignment(name, line) if name else None
        if bound is not None and bound.value is not None and _reads(bound.value):
            return code.place(bound.location.file, bound.value)
    return line if any(_reads(s) for s in code.statements(line)) else None


def _reads(node: ast.AST) -> bool:
    calls = (n for n in ast.walk(node) if isinstance(n, ast.Call))
    return any(dotted(call.func).rpartition(".")[2] in _READERS for call in calls)


def _evidence(found: re.Match[str], seen: UndecodableText | None, opened: Location | None) -> Iterator[str]:
    if seen is not None:
        yield f"byte 0x{seen.byte:02x} at {seen.position} is no beginning of a character in {found['codec']}"
        for name, sample in seen.reads_as if not seen.format else ():
            yield f"read as {name} it says `{sample}`" if "`" not in sample else f"read as {name} it says {sample}"
    if opened is not None and "encoding" not in opened.source:
        yield "without `encoding=` a file is read in the encoding of the system"


def _remedies(form: str, better: list[str], opened: Location | None) -> Iterator[Remedy]:
    if form:
        yield Remedy(title=f"open it as bytes, with what reads {form} files")
        return
    here = " in this call" if opened else ""
    for name in better or ["…"]:
        yield Remedy(title=f'say which encoding it is: `encoding="{name}"`{here}')
    if better[:1] == ["gb18030"]:
        yield Remedy(title="gb18030 covers GBK and GB2312; a Western file may be `cp1252`")
    elif better[:1] == ["cp1252"]:
        # Codecs of one byte a character take any bytes.
        yield Remedy(title="compare the words: `latin-1` says the same, other regions have other letters there")
    yield Remedy(title="or save the file as UTF-8 once, and read that")
