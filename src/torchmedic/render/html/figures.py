"""What interactive charts are drawn from, in plain structures: the numbers once, the words in each language."""

from __future__ import annotations

import json
import math
from typing import Any

from markupsafe import Markup

from torchmedic.facts import Run, Series
from torchmedic.render.html import heat
from torchmedic.render.html.curves import Chart, Line, charts, merged
from torchmedic.render.html.heat import HeatMap
from torchmedic.render.html.text import languages, say
from torchmedic.translation import in_language


def chart_data(run: Run, curves: tuple[tuple[Series, ...], ...], layers: tuple[Series, ...]) -> dict[str, Any]:
    """The charts of a run; `curves` are those of each rank."""
    return plain_figures(merged([charts(run, of_rank) for of_rank in curves]), heat.heat_maps(run, layers))


def plain_figures(drawn: list[Chart], maps: list[HeatMap]) -> dict[str, Any]:
    said = {}
    for language in languages():
        with in_language(language):
            said[language] = {"bad": say("layers_bad"), **_words(drawn, maps)}
    return {
        "charts": [_chart(chart) for chart in drawn],
        "heatMaps": [_heat_map(found) for found in maps],
        "said": said,
    }


def in_script(plain: Any) -> Markup:
    """JSON that is safe inside a script element."""
    text = json.dumps(plain, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("<", "\\u003c"))


def _words(drawn: list[Chart], maps: list[HeatMap]) -> dict[str, dict[str, Any]]:
    of_charts = {
        chart.id: {
            "title": str(chart.title),
            "summary": chart.summary,
            "x": str(chart.x_label),
            "lines": [str(line.name) for line in chart.lines],
            "marks": [str(mark.label) for mark in chart.marks],
            "epochs": [str(epoch.label) for epoch in chart.phases.epochs],
        }
        for chart in drawn
    }
    of_maps = {
        m.id: {"title": str(m.kind), "summary": str(m.summary), "began": str(m.began), "scale": m.scale} for m in maps
    }
    return of_charts | of_maps


def _chart(chart: Chart) -> dict[str, Any]:
    return {
        "id": chart.id,
        "lines": [_line(line) for line in chart.lines],
        "marks": [{"x": mark.x, "kind": mark.kind} for mark in chart.marks],
        "epochs": [[epoch.start, epoch.end] for epoch in chart.phases.epochs],
        "evaluations": list(chart.phases.evaluations),
        "isStepped": chart.is_stepped,
        "isLog": chart.is_log,
    }


def _line(line: Line) -> dict[str, Any]:
    return {name: _finite(getattr(line, name)) for name in ("x", "y", "low", "high")}


def _heat_map(found: HeatMap) -> dict[str, Any]:
    return {
        "id": found.id,
        "layers": list(found.layers),
        "roomy": found.roomy,
        "tight": found.tight,
        "steps": list(found.steps),
        "cells": [list(row) for row in found.cells],
        "low": found.low,
        "high": found.high,
        "hasBad": found.has_bad,
    }


def _finite(values: tuple[float | None, ...]) -> list[float | None]:
    """Six digits are more than a chart shows; infinities are gaps."""
    return [float(f"{v:.6g}") if v is not None and math.isfinite(v) else None for v in values]
