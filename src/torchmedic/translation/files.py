"""The message catalogue on the disk: gettext's .po files, read as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = {"zh": "zh_CN"}
CATALOGUE = Path(__file__).parent.parent / "locale"


@dataclass(frozen=True)
class Entry:
    """One message of a catalogue file."""

    english: str
    translated: str = ""
    used_in: tuple[str, ...] = ()


def po_path(language: str) -> Path:
    return CATALOGUE / LANGUAGES[language] / "LC_MESSAGES" / "torchmedic.po"


def read_po(path: Path) -> list[Entry]:
    """The messages of a gettext file: read as it is, so that an installation needs no compiled copy beside it."""
    blocks = re.split(r"\n\s*\n", path.read_text(encoding="utf-8")) if path.exists() else []
    return [entry for entry in map(_entry, blocks) if entry.english]


def _entry(block: str) -> Entry:
    texts = {"msgid": "", "msgstr": ""}
    used: list[str] = []
    keyword = ""
    for line in block.splitlines():
        if line.startswith("#:"):
            used += line[2:].split()
        elif not line.startswith("#"):
            keyword, quoted = (keyword, line) if line.startswith('"') else line.split(" ", 1)
            texts[keyword] += _unquoted(quoted)
    return Entry(texts["msgid"], texts["msgstr"], tuple(used))


def po_text(entries: Iterable[Entry], language: str) -> str:
    """A gettext file, one block for each message; without a language, the empty one that translators start from."""
    code = f'"Language: {LANGUAGES[language]}\\n"\n' if language else ""
    blocks = [f'msgid ""\nmsgstr ""\n{code}"Content-Type: text/plain; charset=UTF-8\\n"']
    for entry in entries:
        places = f"#: {' '.join(entry.used_in)}\n" if entry.used_in else ""
        blocks.append(f"{places}msgid {_quoted(entry.english)}\nmsgstr {_quoted(entry.translated)}")
    return "\n\n".join(blocks) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _unquoted(text: str) -> str:
    plain = {"n": "\n", "t": "\t"}
    return re.sub(r"\\(.)", lambda match: plain.get(match.group(1), match.group(1)), text.strip()[1:-1])
