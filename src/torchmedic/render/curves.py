"""Draws the curves of a run with matplotlib, as they are put into papers."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from torchmedic.curves import Curve, Curves

# Okabe and Ito's colours, which colour-blind readers can tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
_STYLE = {"train": "--", "validation": "-", "test": "-.", "": ":"}
_MARKED_UP_TO = 60


def save(curves: Curves, path: Path, *, caption: bool = True) -> None:
    """Write the picture; the ending of the path says the format. Needs matplotlib, and no screen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = [panel for panel in (curves.losses, curves.scores) if panel]
    figure = Figure(figsize=(4.2 * len(panels) + 0.8, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    for number, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(1, len(panels), number)
        _draw_panel(axes, panel, curves)
    if caption:
        figure.supxlabel(_plain(textwrap.fill(curves.sentence, 60 * len(panels))), fontsize=7)
    # Without the date, the same run gives the same file.
    undated: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(path.suffix[1:], {})
    figure.savefig(path, dpi=200, metadata=undated or None)


def _draw_panel(axes: Any, panel: tuple[Curve, ...], curves: Curves) -> None:
    for colour, curve in zip(_COLOURS, panel, strict=False):
        mark = "." if len(curve.at) <= _MARKED_UP_TO else ""
        look = {"ls": _STYLE[curve.split], "marker": mark, "ms": 4, "lw": 1.3, "color": colour}
        axes.plot(curve.at, curve.values, label=_plain(curve.name), **look)
        if curve is curves.monitored:
            _mark_best(axes, curve, curves, colour)
    if curves.stop is not None and curves.stop.stopped and curves.unit == "epoch":
        axes.axvline(panel[0].at[-1], color="0.5", lw=0.8, ls="-", label=f"stopped at epoch {panel[0].at[-1]:g}")
    axes.set_xlabel(curves.unit)
    axes.set_ylabel("loss" if panel[0].better == "lower" else "score")
    axes.grid(True, lw=0.3, alpha=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(fontsize=7, frameon=False)


def _mark_best(axes: Any, curve: Curve, curves: Curves, colour: str) -> None:
    best = curve.best()
    if best is None or curves.best_at is None:
        return
    axes.axvline(curves.best_at, color=colour, lw=0.8, ls=":", zorder=0)
    label = f"best: {curve.values[best]:.4g} at {curves.unit} {curves.best_at:g}"
    axes.plot([curves.best_at], [curve.values[best]], "o", color=colour, ms=6, mfc="none", label=label)


def _plain(text: str) -> str:
    """Text for matplotlib, which reads `$` as the start of mathematics."""
    return text.replace("$", r"\$").replace("`", "")
