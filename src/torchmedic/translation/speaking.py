"""The language spoken: chosen once, by an option, a variable or the locale."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING

from torchmedic.translation.files import CATALOGUE, LANGUAGES, po_path, read_po

# English needs no phrase book.
if TYPE_CHECKING:
    from torchmedic.translation.phrases import Phrasebook

VARIABLE = "TORCHMEDIC_LANG"
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
_ENGLISH = ("en", "c", "posix")
_WATCHED = "torchmedic.launch.child"  # imported in every process that `torchmedic run` watches
_DIGEST = re.compile(r"\n<!-- english: (\w+) -->\n")
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

_chosen: str | None = None
_for_now: ContextVar[str | None] = ContextVar("language_for_now", default=None)


def choose(language: str | None = None) -> str:
    """Speak a language from now on: the one asked for, that of TORCHMEDIC_LANG, or that of the locale."""
    global _chosen
    wanted = [language, os.environ.get(VARIABLE), *(os.environ.get(name) for name in _LOCALE)]
    _chosen = language_of(next(filter(None, wanted), ""))
    return _chosen


def chosen() -> str:
    """The language spoken; empty for English."""
    for_now = _for_now.get()
    if for_now is not None:
        return for_now
    if _chosen is None:
        tell_unknown()
        return choose()
    return _chosen


@functools.cache
def tell_unknown() -> None:
    """Say once that TORCHMEDIC_LANG names no language of ours; in a watched script, `torchmedic run` has said it."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted and _WATCHED not in sys.modules and not language_of(wanted) and _short(wanted) not in _ENGLISH:
        known = ", ".join(("en", *LANGUAGES))
        print(f"torchmedic: {VARIABLE}={wanted}: no such language (known: {known}); English is used", file=sys.stderr)


@contextlib.contextmanager
def in_language(language: str) -> Iterator[None]:
    """Speak a language within the block; other threads are not touched."""
    before = _for_now.set(language_of(language))
    try:
        yield
    finally:
        _for_now.reset(before)


def language_of(name: str) -> str:
    """
    >>> language_of("zh_CN.UTF-8"), language_of("zh-Hans"), language_of("en_GB"), language_of("C")
    ('zh', 'zh', '', '')
    """
    return _short(name) if _short(name) in LANGUAGES else ""


def _short(name: str) -> str:
    return re.split(r"[_.\-@]", name.strip().lower())[0]


def said(sentence: str) -> str:
    """A finished sentence in the language spoken; what no template fits stays English."""
    return phrasebook(chosen()).said(sentence) if chosen() else sentence


def template(text: str) -> str:
    """A template with named places in the language spoken; its places are still to be filled."""
    return phrasebook(chosen()).exact.get(text, text) if chosen() else text


def page(english: str, name: str) -> str:
    """A rule's page in the language spoken, with the example of the English one."""
    language = chosen()
    if not language:
        return english
    file = CATALOGUE / LANGUAGES[language] / "pages" / f"{name.replace('-', '_')}.md"
    return with_example(file.read_text(encoding="utf-8"), english) if file.is_file() else english


def with_example(translated: str, english: str) -> str:
    """A translated page has no code of its own, only the digest of the page that was translated."""
    code = _CODE.search(english)
    return _DIGEST.sub("", translated).replace("```\n```", code.group(0) if code else "", 1)


def digest(english: str) -> str:
    """What tells a translator that the words of a page have changed since; code does not count.

    >>> digest("a b\\n") == digest("a\\nb"), digest("a b") == digest("a c")
    (True, False)
    """
    import hashlib  # for translators alone

    return hashlib.sha256(" ".join(_CODE.sub("", english).split()).encode()).hexdigest()[:8]


def digest_in(translated: str) -> str:
    found = _DIGEST.search(translated)
    return found.group(1) if found else ""


@functools.cache
def phrasebook(language: str) -> Phrasebook:
    from torchmedic.translation.phrases import Phrasebook

    return Phrasebook(read_po(po_path(language)))
