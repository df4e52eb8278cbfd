"""`torchmedic memory`: how much memory a training needs, before there is a card to run it on."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torchmedic.cli._output import OneLineError, check_apart, console
from torchmedic.cli._results import STANDARD, check_result_path, write_result
from torchmedic.cli.run import check_command
from torchmedic.translation import said

if TYPE_CHECKING:
    from torchmedic.checkups.memory.cards import Card
    from torchmedic.facts import MemoryPlan, Run
    from torchmedic.findings import Verdict


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--card", "card_name", help="The card to fit into: H200, A100-80, 4090, T4, … or a size such as 24GiB.")
@click.option(
    "--sweep",
    "sweep_text",
    metavar="auto|FLAG=A,B,C",
    help="How memory grows: with these values of a flag of the script, or with every size that can be found.",
)
@click.option("--remedies", is_flag=True, help="Estimate anew with each remedy (a minute or so).")
@click.option("--real", is_flag=True, help="Measure on the GPU of this machine instead of predicting.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the verdict as JSON (- for stdout).")
@click.option("--html", "html_path", type=click.Path(path_type=Path), help="Write it as one HTML page (- for stdout).")
@click.argument(
    "command", nargs=-1, type=click.UNPROCESSED, required=True, metavar="SCRIPT [ARGS]... | -m MODULE [ARGS]..."
)
def command(
    card_name: str | None,
    sweep_text: str | None,
    remedies: bool,
    real: bool,
    json_path: Path | None,
    html_path: Path | None,
    command: tuple[str, ...],
) -> None:
    """Predict the peak memory of a training script that was not changed, without a GPU.

    The script runs for two or three optimizer steps on a card that is only pretended: no numbers are computed, its
    output is not shown, and what it writes or deletes is kept apart from the files there are. Exit 0, or 1 when it does
    not fit the card or cannot be followed.
    """
    from torchmedic.checkups.data.options import Progress
    from torchmedic.cli._memory_answer import find
    from torchmedic.cli._memory_axes import parse_sweep
    from torchmedic.cli._progress import shown

    check_command(command)
    check_apart(json_path, html_path)
    for path in (json_path, html_path):
        check_result_path(path)
        if path not in (None, STANDARD) and not path.absolute().parent.is_dir():
            raise OneLineError(f"cannot write {path}: there is no folder {path.parent}")
    card = _card(card_name)
    automatic = sweep_text == "auto"
    wanted = parse_sweep(sweep_text) if sweep_text and not automatic else None
    progress = Progress()
    with shown(progress):
        found = find(
            command,
            card,
            named=card_name is not None,
            wanted=wanted,
            automatic=automatic,
            remedies=remedies,
            real=real,
            progress=progress,
        )
    run, verdict = _verdict(found.plan, command, found.blocks(), sound=found.sound)
    if json_path is not None:
        from torchmedic.render.plain import to_json

        write_result(json_path, to_json(verdict))
    if html_path is not None:
        from torchmedic.reporting import html_report

        write_result(html_path, html_report(None, run, verdict))
    if STANDARD not in (json_path, html_path):
        for line in found.lines():
            # Rows are set in columns: only what stands in the last one is told.
            figures, gap, text = line.rpartition("  ") if line.startswith("  ") else ("", "", line)
            click.echo(figures + gap + said(text))
        if verdict.diagnoses:
            from torchmedic.render.text import draw

            draw(verdict, console(error_stream=False))
    raise SystemExit(0 if found.sound and not any(d.severity != "hint" for d in verdict.diagnoses) else 1)


def _card(name: str | None) -> Card:
    from torchmedic.checkups.memory.cards import DEFAULT, UnknownCard, card_named

    try:
        return card_named(name) if name is not None else DEFAULT
    except UnknownCard as error:
        raise OneLineError(str(error)) from None


def _verdict(plan: MemoryPlan, command: tuple[str, ...], blocks: dict[str, Any], *, sound: bool) -> tuple[Run, Verdict]:
    from dataclasses import replace

    from torchmedic.facts import Run, RunInfo
    from torchmedic.redaction import redact_argv
    from torchmedic.triage import examine

    info = RunInfo(
        argv=redact_argv(command),
        python=platform.python_version(),
        torch=plan.torch,
        device=plan.mode,
        steps=plan.steps,
        seconds=plan.seconds,
    )
    run = Run(info=info, observations=(plan,))
    verdict = examine(run)
    return run, replace(verdict, outcome="healthy" if sound else "sick", extra={"memory": blocks})
