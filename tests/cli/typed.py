"""Runs a command in this process, as if it had been typed."""

from __future__ import annotations

from dataclasses import dataclass

from click.testing import CliRunner

from torchmedic.cli import main


@dataclass(frozen=True)
class Typed:
    """What a command printed and how it ended."""

    status: int
    out: str
    err: str


def typed(*words: str, stdin: bytes | str | None = None) -> Typed:
    """The result of `torchmedic words…`; an exception of ours is a failure, not a result."""
    result = CliRunner().invoke(main, list(words), input=stdin, prog_name="torchmedic")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Typed(status=result.exit_code, out=result.stdout, err=result.stderr)
