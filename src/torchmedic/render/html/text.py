"""Every sentence of the report and the live page, by name; what varies stands in named places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torchmedic.translation import chosen, template
from torchmedic.translation.files import LANGUAGES

TEXT = {
    "title": "{script} · torchmedic",
    "skip": "Skip to the verdict",
    "sections": "Sections",
    "outcome_healthy": "healthy",
    "outcome_sick": "sick",
    "outcome_crashed": "crashed",
    "nothing_wrong": "no trouble found",
    "nothing_trained": "no training seen, nothing to report",
    "nothing_found": "healthy, {steps} optimizer steps watched",
    "interrupted": "interrupted after {steps} optimizer steps, nothing found until then",
    "not_explained": "not explained",
    "ran": "`{command}` ran {seconds} on {when}",
    "steps": "{steps} optimizer steps",
    "stopped": "stopped by torchmedic in step {step}",
    "ended": "ended with status {status}",
    "killed": "ended by signal {signal}",
    "verdict": "Verdict",
    "severity_error": "error",
    "severity_warning": "warning",
    "severity_hint": "hint",
    "confidence_proven": "proven",
    "confidence_likely": "probably",
    "confidence_possible": "possibly",
    "in_function": "in {function}",
    "line_to_edit": "the line to edit",
    "evidence": "Evidence",
    "ruled_out": "Ruled out",
    "cure": "Cure",
    "cure_tried": "tried on the failing step: it works",
    "about": "About {code} {name}",
    "more_found": "Also found",
    "chain": "From the origin to the loss",
    "chain_summary": "{count} stations: {stations}",
    "chain_skipped": "{count} more operations",
    "chain_loss": "the loss",
    "chain_gradients": "the gradients",
    "chain_gradients_bad": "{bad} of {total} not finite, the first that of {first}",
    "chain_update": "the weights",
    "chain_withheld": "the update was not applied",
    "chain_applied": "the update was applied all the same",
    "chain_bad": "{bad} of {total} values not finite",
    "chain_birth": "{bad} of {total} values of {variable} not finite",
    "chain_range": "from {low} to {high}",
    "chain_zeros": "{zeros} zeros",
    "chain_rows": "{count} rows",
    "chain_row": "row {row}",
    "chain_column": "column {column}",
    "chain_sample": "sample {sample} of the data set",
    "state_finite": "finite",
    "state_infinite": "infinite",
    "state_nan": "NaN",
    "state_bad": "not finite",
    "curves": "Curves",
    "curve_loss": "loss of each step",
    "curve_rate": "learning rate",
    "curve_memory_host": "memory of the process, MiB",
    "curve_memory_device": "memory on the device, MiB",
    "curve_summary": (
        "{name}: {first} at step {first_step}, {last} at step {last_step}, lowest {low} at step {low_step}"
    ),
    "curve_summary_means": ("{name}: mean {first} of {first_in}, mean {last} of {last_in}, lowest {low} in {low_in}"),
    "one_step": "step {step}",
    "some_steps": "steps {first} to {last}",
    "curve_summary_epochs": "{name}: best {best} at epoch {epoch}, last {last}",
    "curve_phases": "shaded: every second of {epochs} epochs; marks at the bottom: {times} evaluations",
    "axis_step": "step",
    "axis_epoch": "epoch",
    "mark_sick": "sick step {step}",
    "mark_epoch": "epoch {epoch}",
    "mark_best": "best epoch {epoch}",
    "mark_stopped": "stopped early at epoch {epoch}",
    "layers": "Layers over time",
    "layers_gradient": "gradient",
    "layers_weight": "weight",
    "layers_activation": "activation",
    "layers_summary": "Size of the {kind} of {count} layers at {columns} places between step {first} and step {last}",
    "layers_scale": "norm, from {low} to {high}",
    "layers_bad": "not finite",
    "layers_began": "it began at {layer}, step {step}",
    "examples": "Examples",
    "memory": "Memory",
    "memory_summary": "peak {peak} allocated, {reserved} reserved, in the {phase}, on a card like {card}",
    "memory_data": "data of the batch",
    "phase_setup": "setup",
    "phase_data": "loading of a batch",
    "phase_forward": "forward phase",
    "phase_backward": "backward phase",
    "phase_optimizer": "optimizer step",
    "phase_evaluation": "evaluation",
    "memory_fits": "{card}: it fits, {spare} to spare of the {usable} that tensors can have",
    "memory_too_much": "{card}: it does not fit, {spare} too much for the {usable} that tensors can have",
    "memory_course": "over the step with the peak",
    "memory_course_summary": "step {step}, from its first tensor to its last: {peak} at most",
    "memory_lines": "by line, at the peak",
    "memory_remedies": "remedies, each estimated anew: the peak with it",
    "memory_categories": "by kind, at the peak",
    "memory_phases": "over the step: the most of each phase",
    "memory_modules": "by module, at the peak",
    "memory_outside": "outside modules",
    "data": "Data",
    "data_summary": "{source}: {rows} rows, {columns} columns",
    "data_guilty": "where it came in: {name}, in the batch of the sick step",
    "data_batch": "first batch of {loader}",
    "data_spread": "spread of the values from {low} to {high}",
    "data_beyond": "{below} farther below, {above} farther above",
    "data_values": "distribution",
    "data_labels": "labels",
    "data_text": "texts",
    "data_constant": "always {value}",
    "data_outliers": "{count} outliers",
    "data_column": "column",
    "data_type": "type",
    "data_missing": "missing",
    "data_strange": "noticeable",
    "data_low": "lowest",
    "data_mean": "mean",
    "data_high": "highest",
    "environment": "Environment",
    "env_script": "script",
    "env_folder": "working directory",
    "env_python": "Python",
    "env_torch": "torch",
    "env_platform": "platform",
    "env_gpus": "GPUs",
    "env_driver": "driver",
    "env_packages": "packages",
    "env_run": "run folder",
    "made_by": "torchmedic {version}",
    "made_light": "small version, without interactive charts",
    "report_at": "report: `{path}`",
    "live_title": "runs · torchmedic",
    "live_runs": "Runs",
    "live_none": "no run yet; start one with `torchmedic run`",
    "live_connecting": "connecting",
    "live_connected": "connected",
    "live_lost": "connection lost, trying again",
    "live_running": "running",
    "live_silent": "no sign of life",
    "live_ended": "ended",
    "live_stopped": "stopped by torchmedic",
    "live_failed": "failed",
    "live_unreadable": "not readable",
    "live_ranks": "{ranks} ranks",
    "live_rank": "rank {rank}",
    "other_language": "中文",
    "theme": "Colours",
    "theme_auto": "as the system",
    "theme_light": "light",
    "theme_dark": "dark",
    "chart_hint": "Drag to zoom, double-click to zoom out",
}


def say(name: str, /, **values: Any) -> str:
    """A sentence with its values filled in.

    >>> say("mark_sick", step=213)
    'sick step 213'
    """
    return template(TEXT[name]).format(**values)


def languages() -> list[str]:
    """Every language that a page is written in, the one spoken first."""
    spoken = chosen() or "en"
    return [spoken, *(language for language in ("en", *LANGUAGES) if language != spoken)]


@dataclass(frozen=True)
class Phrase:
    """A sentence that is said where it is shown, in the language spoken there."""

    name: str
    values: dict[str, Any]

    def __str__(self) -> str:
        return say(self.name, **self.values)


Words = str | Phrase


def phrase(name: str, /, **values: Any) -> Phrase:
    """A sentence to be said later.

    >>> str(phrase("mark_sick", step=213))
    'sick step 213'
    """
    return Phrase(name, values)
