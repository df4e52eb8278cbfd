"""`--lang`, which every command has: the language of what it says, and of its help."""

from __future__ import annotations

import copy
import inspect
import io
import sys

import click

from torchmedic.translation import choose, chosen, said
from torchmedic.translation.files import LANGUAGES

_HELP = "Language of what is said; else TORCHMEDIC_LANG, else the locale."


def speaking(command: click.Command) -> click.Command:
    """A copy of the command with the option, its help in the language that variable or locale ask for."""
    choices = click.Choice(["en", *LANGUAGES])
    option = click.Option(
        ["--lang"], type=choices, is_eager=True, expose_value=False, callback=_chosen_by_option, help=_HELP
    )
    command = copy.copy(command)
    command.params = [*map(copy.copy, command.params), option]
    choose()
    translate_help(command)
    return command


def _chosen_by_option(context: click.Context, _parameter: click.Parameter, language: str | None) -> None:
    if language is not None:
        choose(language)
        translate_help(context.command)


def translate_help(command: click.Command) -> None:
    """Put a command's help into the language spoken; what a terminal cannot write is escaped there, as elsewhere."""
    if not chosen():
        return
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(said(" ".join(paragraph.split())) for paragraph in paragraphs)
    for option in command.params:
        if isinstance(option, click.Option) and option.help:
            option.help = said(option.help)
