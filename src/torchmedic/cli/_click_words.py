"""Has click say its own words in the language spoken: it asks gettext, and here it asks a catalogue beside ours."""

from __future__ import annotations

import functools
from types import ModuleType

import click.core
import click.decorators
import click.exceptions
import click.formatting
import click.parser
import click.types

from torchmedic.translation import choose, chosen
from torchmedic.translation.files import po_path, read_po

_MODULES: tuple[ModuleType, ...] = (
    click.core,
    click.decorators,
    click.exceptions,
    click.formatting,
    click.parser,
    click.types,
)


def teach_click() -> None:
    """From now on click speaks the language chosen at the moment; what the catalogue lacks stays English."""
    choose()  # click says its words for the first time when a command is built, and then nobody listens
    for module in _MODULES:
        for name, told in (("_", _told), ("ngettext", _counted)):
            if hasattr(module, name):
                setattr(module, name, told)


def _told(message: str) -> str:
    language = chosen()
    return _catalogue(language).get(message, message) if language else message


def _counted(singular: str, plural: str, count: int) -> str:
    return _told(singular if count == 1 else plural)


@functools.cache
def _catalogue(language: str) -> dict[str, str]:
    return {entry.english: entry.translated for entry in read_po(po_path(language).with_name("click.po"))}


def language_in(command: click.Command, words: list[str]) -> str | None:
    """The value of `--lang` among the words of a command, before click has understood them: it may not."""
    options = {name: option for option in command.params for name in option.opts if isinstance(option, click.Option)}
    is_open = command.context_settings.get("allow_interspersed_args", True)
    waiting = iter(words)
    for word in waiting:
        name, has_value, value = word.partition("=")
        option = options.get(name)
        if name == "--lang":
            return value if has_value else next(waiting, None)
        if option is None and (word == "--" or not is_open):
            return None  # what follows belongs to the script
        if isinstance(option, click.Option) and not option.is_flag and not has_value:
            next(waiting, None)
            if (option.metavar or "").endswith("[ARGS]..."):
                return None
    return None
