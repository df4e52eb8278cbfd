"""Draws the curves of a run with matplotlib, as they are put into papers."""

from __future__ import annotations

import functools
import re
import textwrap
from pathlib import Path
from typing import Any

from torchmedic.curves import Curve, Curves
from torchmedic.translation import chosen, in_language, said
from torchmedic.translation.typesetting import folded

# Okabe and Ito's colours, which colour-blind readers can tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
_STYLE = {"train": "--", "validation": "-", "test": "-.", "": ":"}
_MARKED_UP_TO = 60
_CAPTION = 60  # columns below one panel
# Without the date, the same run gives the same file; by our name it is known to be ours, and may be written anew.
_METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": "torchmedic"},
    "svg": {"Creator": "torchmedic", "Date": None},
    "pdf": {"Creator": "torchmedic", "CreationDate": None},
}
# A character that every font for Chinese has, and fonts that are meant for it: others have it for Japanese.
_CHINESE = "损"
_MADE_FOR_IT = re.compile(r"\b(SC|CN|GB|PingFang|Microsoft YaHei|SimHei|Heiti|WenQuanYi)\b")


def save(curves: Curves, path: Path, *, caption: bool = True) -> None:
    """Write the picture in the language spoken; the ending of the path says the format. Needs no screen.

    Where no installed font can write that language, the picture's words are English.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    font = font_spoken()
    families = [*matplotlib.rcParams["font.family"], *([font] if font else [])]
    with in_language("en" if font is None else chosen()), matplotlib.rc_context({"font.family": families}):
        panels = [panel for panel in (curves.losses, curves.scores) if panel]
        figure = Figure(figsize=(4.2 * len(panels) + 0.8, 3.4), layout="constrained")
        FigureCanvasAgg(figure)
        for number, panel in enumerate(panels, start=1):
            axes = figure.add_subplot(1, len(panels), number)
            _draw_panel(axes, panel, curves)
        if caption:
            figure.supxlabel(_caption(curves.sentence, _CAPTION * len(panels)), fontsize=7)
        figure.savefig(path, dpi=200, metadata=_METADATA.get(path.suffix[1:].lower()))


def font_spoken() -> str | None:
    """An installed font for the language spoken: empty where any does, None where there is none."""
    return _chinese_font() if chosen() else ""


@functools.cache
def _chinese_font() -> str | None:
    from matplotlib.font_manager import fontManager

    known = sorted(fontManager.ttflist, key=lambda font: not _MADE_FOR_IT.search(font.name))
    return next((font.name for font in known if _has_chinese(font.fname)), None)


def _has_chinese(file: str) -> bool:
    from matplotlib.ft2font import FT2Font

    try:
        return bool(FT2Font(file).get_char_index(ord(_CHINESE)))
    except (OSError, RuntimeError):  # a list of fonts may be older than the fonts
        return False


def _draw_panel(axes: Any, panel: tuple[Curve, ...], curves: Curves) -> None:
    for colour, curve in zip(_COLOURS, panel, strict=False):
        mark = "." if len(curve.at) <= _MARKED_UP_TO else ""
        look = {"ls": _STYLE[curve.split], "marker": mark, "ms": 4, "lw": 1.3, "color": colour}
        axes.plot(curve.at, curve.values, label=_plain(curve.name), **look)
        if curve is curves.monitored:
            _mark_best(axes, curve, curves, colour)
    if curves.stop is not None and curves.stop.stopped and curves.unit == "epoch":
        label = said(f"stopped at epoch {panel[0].at[-1]:g}")
        axes.axvline(panel[0].at[-1], color="0.5", lw=0.8, ls="-", label=label)
    axes.set_xlabel(said(curves.unit))
    axes.set_ylabel(said("loss") if panel[0].better == "lower" else said("score"))
    axes.grid(True, lw=0.3, alpha=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(fontsize=7, frameon=False)


def _mark_best(axes: Any, curve: Curve, curves: Curves, colour: str) -> None:
    best = curve.best()
    if best is None or curves.best_at is None:
        return
    axes.axvline(curves.best_at, color=colour, lw=0.8, ls=":", zorder=0)
    label = said(f"best: {curve.values[best]:.4g} at {curves.unit} {curves.best_at:g}")
    axes.plot([curves.best_at], [curve.values[best]], "o", color=colour, ms=6, mfc="none", label=label)


def _caption(sentence: str, width: int) -> str:
    lines = folded(said(sentence), width) if chosen() else textwrap.wrap(sentence, width)
    return _plain("\n".join(lines))


def _plain(text: str) -> str:
    """Text for matplotlib, which reads `$` as the start of mathematics."""
    return text.replace("$", r"\$").replace("`", "")
