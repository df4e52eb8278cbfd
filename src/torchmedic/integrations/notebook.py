"""Notebooks: `%load_ext torchmedic`, `%%medic` on a cell, and errors of any cell explained."""

from __future__ import annotations

import argparse
import ast
import contextlib
import re
import shlex
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from torchmedic.facts import Run
from torchmedic.in_process import Verdicts, watch
from torchmedic.probes.crash.exceptions import crash_of
from torchmedic.probes.source.cells import name_cells
from torchmedic.probes.source.frames import outward
from torchmedic.settings import ON_SICK
from torchmedic.translation import in_language
from torchmedic.translation.files import LANGUAGES
from torchmedic.triage import examine

_USAGE = f"%%medic [--on-sick {'|'.join(ON_SICK)}] [--lang {'|'.join(('en', *LANGUAGES))}] [-q|--quiet]"
_registered: list[Callable[[Any], None]] = []
_explained: list[BaseException] = []


def load(shell: Any) -> None:
    """`%load_ext torchmedic`: add the magic, and explain the errors of cells from now on."""

    def explain(result: Any) -> None:
        explain_error(shell, result.error_before_exec or result.error_in_exec)

    def medic(line: str, cell: str) -> Any:
        return run_cell(shell, line, cell)

    medic.__doc__ = run_cell.__doc__
    shell.register_magic_function(medic, magic_kind="cell", magic_name="medic")
    shell.events.register("post_run_cell", explain)
    _registered.append(explain)


def unload(shell: Any) -> None:
    """`%unload_ext torchmedic`."""
    while _registered:
        shell.events.unregister("post_run_cell", _registered.pop())
    shell.magics_manager.magics["cell"].pop("medic", None)


def run_cell(shell: Any, line: str, cell: str) -> Any:
    """Run the cell watched, and show what went wrong below it. Options are those of `torchmedic run`."""
    try:
        options = _options(line)
    except ValueError as wrong:
        print(f"torchmedic: {wrong}; {_USAGE}", file=sys.stderr)
        return None
    # The line of the magic itself is part of the cell: line numbers are those that the notebook shows.
    rest, last = _compiled(shell, f"# %%medic {line}\n{cell}")
    name_cells()
    value = None
    language = in_language(options.lang) if options.lang else contextlib.nullcontext()
    with language, watch(on_sick=options.on_sick, name="notebook") as medic:
        medic.way_on = "--on-sick continue"
        medic.tells_health = not options.quiet
        try:
            exec(rest, shell.user_ns)
            value = eval(last, shell.user_ns) if last is not None else None
        except Exception as error:
            _explained[:] = [error]
            raise
    return value


class _Options(argparse.ArgumentParser):
    """Raises what it cannot read, instead of ending the kernel."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def _options(line: str) -> argparse.Namespace:
    """What stands behind the magic; a ValueError for what cannot be read."""
    parser = _Options(prog="%%medic", add_help=False, allow_abbrev=False)
    parser.add_argument("--on-sick", choices=ON_SICK, default=ON_SICK[0])
    parser.add_argument("--lang", choices=["en", *LANGUAGES])
    parser.add_argument("-q", "--quiet", action="store_true")
    return parser.parse_args(shlex.split(line))


def _compiled(shell: Any, cell: str) -> tuple[Any, Any]:
    """The statements of a cell, and its last expression, whose value is the cell's."""
    source = shell.transform_cell(cell)
    name = shell.compile.cache(source, _number(shell), raw_code=cell)
    tree = shell.compile.ast_parse(source, filename=name)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = compile(ast.Expression(tree.body.pop().value), name, "eval")
    return compile(tree, name, "exec"), last


def _number(shell: Any) -> int:
    """The number of the cell that holds the magic; the shell itself may be ahead by one."""
    labels = (shell.compile.format_code_name(frame.f_code.co_filename) for frame in outward(sys._getframe()))
    label = next(filter(None, labels), None)
    return int(re.sub(r"\D", "", label[1])) if label is not None else int(shell.execution_count)


def explain_error(shell: Any, error: BaseException | None) -> None:
    """Show what an error of a cell means, if that is known and was not shown already."""
    if not isinstance(error, Exception) or error in _explained:
        _explained.clear()
        return
    try:
        sources = name_cells()
        run = Run(observations=(crash_of(error),))
        verdict = examine(run)
        if any(d.severity == "error" for d in verdict.diagnoses):
            Verdicts(verdict, run, sources).tell()
    except Exception as failure:  # noqa: BLE001 - the user's own error is on the screen: ours must not cover it
        print(f"torchmedic: could not explain this ({type(failure).__name__}: {failure})", file=sys.__stderr__)
