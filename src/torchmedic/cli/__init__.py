"""The command line: one file per command, loaded only when it is asked for."""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import click

from torchmedic._version import __version__
from torchmedic.cli._click_words import language_in, teach_click
from torchmedic.cli._language import speaking, translate_help
from torchmedic.cli._output import OneLineError
from torchmedic.translation import choose, said, tell_unknown
from torchmedic.translation.files import LANGUAGES

teach_click()


@contextlib.contextmanager
def _in_one_line(name: str, ctx: click.Context | None = None) -> Iterator[None]:
    """What click cannot understand is told in one line, as all bad input is."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        told = " ".join(error.format_message().split()).rstrip(".。")
        # An option that lacks its value is noticed before there is a context for the command.
        asked = f"{name} {ctx.invoked_subcommand}" if ctx is not None else name
        command = error.ctx.command_path if error.ctx is not None else asked
        raise OneLineError(f"{told[:1].lower()}{told[1:]}; `{command} --help` shows what can be given") from None


class LazyCommands(click.Group):
    """A group whose commands are the public modules of this package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(entry.name for entry in pkgutil.iter_modules(__path__) if not entry.name.startswith("_"))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        choose()
        return super().parse_args(ctx, args)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        with _in_one_line(info_name or ""):
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _in_one_line(ctx.command_path, ctx):
                return super().invoke(ctx)
        except KeyboardInterrupt:
            # click would end with 1, which says that there are findings.
            click.echo(said("torchmedic: interrupted before anything was known"), err=True)
            raise SystemExit(130) from None

    def get_help(self, ctx: click.Context) -> str:
        tell_unknown()
        english = self.help
        translate_help(self)
        text = super().get_help(ctx)
        self.help = english
        return text

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"{__name__}.{cmd_name}")
        command: click.Command = module.command
        return speaking(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        language = language_in(command, rest) if command is not None else None
        if language in ("en", *LANGUAGES):
            choose(language)  # before anything is wrong with the other words
        else:
            tell_unknown()
        return name, command, rest


@click.command(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="torchmedic")
def main() -> None:
    """Find out why a PyTorch training goes wrong: the cause, the line to edit, and a cure that was tried."""
