"""Writes the findings of a run into the experiment tracker that the script uses, and into none that it does not."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torchmedic.findings import Diagnosis, Verdict
from torchmedic.record import say
from torchmedic.store import load
from torchmedic.triage import examine

_KEY = "torchmedic"


def write_findings(folder: Path, in_use: Mapping[str, Any]) -> None:
    """Judge a finished run and tell its trackers; a healthy run leaves no trace in them."""
    write_verdict(examine(load(folder)), in_use)


def write_verdict(verdict: Verdict, in_use: Mapping[str, Any]) -> None:
    loud = [d for d in verdict.diagnoses if d.severity != "hint"]
    if not loud:
        return
    for tracker, handle in in_use.items():
        try:
            # Trackers talk on both streams while they write, and the script's output is its own.
            with contextlib.redirect_stdout(io.StringIO()):
                _WRITERS[tracker](handle, verdict, loud)
        except Exception as error:  # noqa: BLE001 - a tracker that is closed or out of reach is no trouble of the run
            say(f"findings were not written to {tracker} ({type(error).__name__}: {error})")


def _to_tensorboard(writer: Any, verdict: Verdict, loud: list[Diagnosis]) -> None:
    writer.add_text(_KEY, f"```\n{_text(verdict)}\n```", global_step=verdict.info.steps)
    writer.flush()


def _to_wandb(run: Any, verdict: Verdict, loud: list[Diagnosis]) -> None:
    run.summary[f"{_KEY}/verdict"] = loud[0].headline
    run.summary[f"{_KEY}/codes"] = _codes(loud)
    run.summary[f"{_KEY}/report"] = _text(verdict)


def _to_mlflow(run_id: str, verdict: Verdict, loud: list[Diagnosis]) -> None:
    client = sys.modules["mlflow"].MlflowClient()
    client.set_tag(run_id, f"{_KEY}.verdict", loud[0].headline)
    client.set_tag(run_id, f"{_KEY}.codes", _codes(loud))
    client.log_text(run_id, _text(verdict), f"{_KEY}.txt")


def _to_trackio(trackio: Any, verdict: Verdict, loud: list[Diagnosis]) -> None:
    trackio.log({f"{_KEY}/findings": trackio.Markdown(f"```\n{_text(verdict)}\n```")})


def _to_swanlab(swanlab: Any, verdict: Verdict, loud: list[Diagnosis]) -> None:
    swanlab.log({f"{_KEY}/findings": swanlab.Text(_text(verdict), caption=_codes(loud))})


_WRITERS: dict[str, Callable[[Any, Verdict, list[Diagnosis]], None]] = {
    "tensorboard": _to_tensorboard,
    "wandb": _to_wandb,
    "mlflow": _to_mlflow,
    "trackio": _to_trackio,
    "swanlab": _to_swanlab,
}


def _codes(loud: list[Diagnosis]) -> str:
    return ", ".join(d.code for d in loud)


def _text(verdict: Verdict) -> str:
    """The verdict as on the screen, without colour."""
    from torchmedic.render.terminal import paper
    from torchmedic.render.text import draw

    out = io.StringIO()
    draw(verdict, paper(out))
    return out.getvalue().rstrip()
