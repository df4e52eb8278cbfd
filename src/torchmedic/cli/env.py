"""`torchmedic env`: is this a sound place to train in?"""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchmedic.cli._output import console
from torchmedic.cli._results import STANDARD, check_result_path, write_result
from torchmedic.translation import said

if TYPE_CHECKING:
    from torchmedic.facts import Environment, Network


@click.command()
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the verdict as JSON (- for stdout).")
@click.option("--no-network", is_flag=True, help="Do not try to reach the network.")
def command(json_path: Path | None, no_network: bool) -> None:
    """Check Python, torch, its companions, the GPU and its driver, and the network.

    Exit 0 when nothing is wrong, 1 with findings. Nothing is imported or changed.
    """
    from dataclasses import replace

    from torchmedic.checkups.environment.network import look_outside
    from torchmedic.checkups.environment.survey import survey
    from torchmedic.facts import Run, RunInfo
    from torchmedic.triage import examine

    check_result_path(json_path)
    seen = survey()
    network = None if no_network else look_outside()
    info = RunInfo(argv=("env",), python=platform.python_version(), torch=seen.torch)
    verdict = examine(Run(info=info, observations=(seen, network) if network else (seen,)))
    facts = _facts(seen, network)
    verdict = replace(verdict, extra={"environment": facts})
    if json_path is not None:
        from torchmedic.render.plain import to_json

        write_result(json_path, to_json(verdict))
    if json_path != STANDARD:
        _show(facts)
        if verdict.diagnoses:
            from torchmedic.render.text import draw

            click.echo()
            draw(verdict, console(error_stream=False))
        else:
            click.echo(said("no trouble found"))
    raise SystemExit(1 if any(d.severity != "hint" for d in verdict.diagnoses) else 0)


def _facts(seen: Environment, network: Network | None) -> dict[str, str | None]:
    """What is shown and written: one line of text for each part."""
    build = f"CUDA {seen.torch_cuda}" if seen.torch_cuda else f"ROCm {seen.torch_hip}" if seen.torch_hip else "CPU only"
    driver = f"{seen.driver} (CUDA up to {seen.driver_cuda or 'unknown'})" if seen.driver else "none"
    others = ", ".join(f"{p.name} {p.version}" for p in seen.packages if p.name != "torch")
    return {
        "python": f"{seen.python} ({seen.platform})",
        "torch": f"{seen.torch} ({build})" if seen.torch else "not installed",
        "packages": others or "none of the usual ones",
        "gpus": ", ".join(seen.gpus) or "none",
        "driver": driver,
        "visible devices": seen.visible_devices,
        "shared memory": _shared(seen),
        "network": _network(network) if network else None,
    }


def _shared(seen: Environment) -> str | None:
    if seen.shared_memory_total is None or seen.shared_memory_free is None:
        return None
    mebibyte = 1 << 20
    return f"{seen.shared_memory_free // mebibyte} of {seen.shared_memory_total // mebibyte} MiB free"


def _network(network: Network) -> str:
    said = {
        "open": f"open ({network.asked} answers)",
        "no-names": "closed: no host name resolves",
        "refused": "closed: connections are refused",
        "timeout": "closed: no answer within seconds",
        "login-page": "a gateway answers with its login page",
    }[network.state]
    return said + (f", through the proxy {network.proxy}" if network.proxy else "")


def _show(facts: dict[str, str | None]) -> None:
    from torchmedic.cli._results import hanging

    for name, text in facts.items():
        if text is not None:
            click.echo(hanging(name, said(text), 17))
