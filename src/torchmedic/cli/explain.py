"""`torchmedic explain`: a rule's page, or what a pasted traceback means."""

from __future__ import annotations

import contextlib
import difflib
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchmedic.cli._output import OneLineError, console
from torchmedic.cli._results import STANDARD, catalogue_json, check_result_path, width, write_result
from torchmedic.translation import chosen, said
from torchmedic.translation import page as translated_page
from torchmedic.translation.typesetting import folded

if TYPE_CHECKING:
    from torchmedic.findings import Rule, Verdict

LARGEST = 4 * 1024 * 1024


@click.command()
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the answer as JSON (- for stdout).")
@click.argument("what", metavar="CODE | NAME | TRACEBACK-FILE | MESSAGE | -")
def command(json_path: Path | None, what: str) -> None:
    """Explain a rule (by code or name), an error's message, or a traceback in a file or, with -, on standard input."""
    from torchmedic.rules import by_code

    check_result_path(json_path)
    rule = None if what == "-" else by_code(what)
    if rule is not None:
        if json_path != STANDARD and what.strip().lower() not in (rule.code.lower(), rule.name):
            click.echo(said(f"{what.strip().upper()} is called {rule.code} now") + "\n")
        _explain_rule(rule, json_path)
    elif not what:
        raise OneLineError("explain what? give a code, a name, a file with a traceback, or -")
    elif what == "-" or _is_there(what):
        _explain_traceback(what, json_path)
    elif (verdict := _message(what)) is not None:
        _show(verdict, json_path)
    else:
        raise OneLineError(f"{what}: no such rule and no such file{_near(what)}; `torchmedic rules` lists the rules")


def _is_there(what: str) -> bool:
    try:
        return Path(what).exists()
    except OSError:  # a whole message may be longer than a name can be
        return False


def _near(what: str) -> str:
    from torchmedic.rules import entries

    known = [word for rule in entries() for word in (rule.code, rule.name)]
    close = difflib.get_close_matches(what, known, n=1, cutoff=0.75) or difflib.get_close_matches(
        what.upper(), known, n=1, cutoff=0.8
    )
    return f" (near: {close[0]})" if close else ""


def _explain_rule(rule: Rule, json_path: Path | None) -> None:
    from torchmedic.rules import Entry, page

    text = page(rule)
    if json_path is not None:
        write_result(json_path, catalogue_json(rule=asdict(Entry.of(rule)) | {"page": text}))
    if json_path != STANDARD:
        for line in _plain(translated_page(text, rule.name), rule):
            click.echo(line)


def _plain(text: str, rule: Rule) -> list[str]:
    """The page for a terminal: headings without marks, code indented, the symptoms at the end."""
    lines: list[str] = []
    in_code = False
    for line in text.rstrip().splitlines():
        if line.startswith("```"):
            in_code = not in_code
        elif in_code:
            lines.append(f"    {line}".rstrip())
        elif line.startswith("#"):
            lines.append(click.style(line.lstrip("# "), bold=True))
        else:
            # A Chinese paragraph is one line of its file.
            lines += folded(line, width()) if chosen() and line else [line]
    symptoms = said("; ".join(symptom.value for symptom in rule.symptoms) + ".")
    told = said(f"Tell apart: {rule.tell_apart}.")
    return [*lines, "", click.style(said("Symptoms"), bold=True), "", symptoms, told]


def _explain_traceback(what: str, json_path: Path | None) -> None:
    from torchmedic.cli._pasted import verdict_on

    name = "standard input" if what == "-" else what
    verdict = verdict_on(_read(what, name))
    if verdict is None:
        raise OneLineError(f"{name}: no traceback in it, and no message that a rule knows")
    _show(verdict, json_path)


def _message(what: str) -> Verdict | None:
    """What a message says that was given in the place of a file; a single word is none."""
    from torchmedic.cli._pasted import verdict_on

    return verdict_on(what) if " " in what.strip() else None


def _show(verdict: Verdict, json_path: Path | None) -> None:
    from torchmedic.render.plain import to_json
    from torchmedic.render.text import draw

    if json_path is not None:
        write_result(json_path, to_json(verdict))
    if json_path != STANDARD:
        screen = console(error_stream=False)
        source = verdict.extra["from_text"]
        draw(verdict, screen)
        screen.print(said(f"told from the text alone: {source['known']}"), soft_wrap=True)
        screen.print(said(f"`torchmedic run SCRIPT` would add: {source['running_would_add']}"), soft_wrap=True)


def _read(what: str, name: str) -> str:
    """The text of a traceback file, within limits."""
    try:
        if what == "-":
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            path = Path(what)
            if path.is_dir():
                raise OneLineError(f"{name}: a directory, not a traceback")
            with path.open("rb") as file:
                data = file.read(LARGEST + 1)
    except OSError as error:
        raise OneLineError(f"{name}: cannot be read ({error.strerror or error})") from None
    if len(data) > LARGEST:
        cut = "its last lines, for example with `tail -n 200 FILE | torchmedic explain -`"
        raise OneLineError(f"{name}: larger than {LARGEST >> 20} MiB, too large for a traceback; give {cut}")
    return _decoded(data, name)


def _decoded(data: bytes, name: str) -> str:
    if not data.strip():
        raise OneLineError(f"{name}: empty")
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    text = data.decode(encoding, errors="replace")
    if "\ufffd" in text and b"\0" not in data:
        # A Chinese console of Windows writes so; bytes that are no text do not come out of it whole.
        with contextlib.suppress(UnicodeDecodeError):
            text = data.decode("gb18030")
    strange = sum(character in "\0\ufffd" for character in text[:65536])
    if "\0" in text or strange > max(8, len(text[:65536]) // 20):
        raise OneLineError(f"{name}: binary, not a text")
    return text
