"""Puts the report together: views of the facts, templates, and the one script that makes charts interactive."""

from __future__ import annotations

import functools
import re
import time
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup, escape

from torchmedic._version import __version__
from torchmedic.facts import DataSource, MemoryPlan, Run
from torchmedic.findings import Diagnosis, Verdict
from torchmedic.render.html import chain, data, drawing, heat, plot, shares, surroundings
from torchmedic.render.html.curves import Chart, charts, merged
from torchmedic.render.html.figures import in_script, plain_figures
from torchmedic.render.html.heat import HeatMap
from torchmedic.render.html.model import Report
from torchmedic.render.html.numbers import duration
from torchmedic.render.html.text import TEXT, languages, say
from torchmedic.render.html.window import window
from torchmedic.render.interventions import skip_words, stop_words
from torchmedic.render.spoken import spoken_diagnosis, spoken_exception
from torchmedic.translation import in_language, said, template
from torchmedic.translation import page as translated_page

_FOLDER = resources.files("torchmedic.render.html") / "templates"


def page(report: Report, *, plotly: str = "") -> str:
    """The report as one HTML text, in every language. `plotly` is its script; without it charts are pictures.

    A page without a chart, as of a script that dies before its first step, does without the script's megabytes.
    """
    drawn = merged([charts(report.run, of_rank) for of_rank in report.curves])
    maps = heat.heat_maps(report.run, report.layers)
    script = plotly if drawn or maps else ""
    bodies: list[Markup] = []
    for language in languages():
        with in_language(language):
            # Pictures are the same in every language: they are there once, and move to the text that is shown.
            bodies.append(Markup(_body(report, drawn, maps, has_plotly=bool(plotly), has_pictures=not bodies)))
    return (
        _templates()
        .get_template("page.html")
        .render(
            title=_title(report),
            bodies=bodies,
            data=in_script(plain_figures(drawn, maps)) if script else "",
            plotly=Markup(script),
            version=__version__,
        )
    )


def _body(report: Report, drawn: list[Chart], maps: list[HeatMap], *, has_plotly: bool, has_pictures: bool) -> str:
    """Everything that is read, in the language spoken."""
    return (
        _templates()
        .get_template("body.html")
        .render(
            **_told(report),
            title=_title(report),
            facts=_run_facts(report.verdict),
            charts=drawn,
            heat_maps=maps,
            data_views=data.data_views(report.run),
            memory=shares.memory_view(report.run, report.verdict.extra.get("memory", {})),
            environment=surroundings.rows(report.run),
            has_plotly=has_plotly,
            has_pictures=has_pictures,
            version=__version__,
        )
    )


def _title(report: Report) -> str:
    return say("title", script=" ".join(report.run.info.argv) or "python")


def fragment(report: Report, *, report_path: str = "", way_on: str = "") -> str:
    """The verdict alone as a piece of HTML with its own style, for a page that is not ours (a notebook)."""
    return (
        _templates()
        .get_template("fragment.html")
        .render(
            **_told(report),
            report_path=report_path,
            interventions=[*filter(None, (skip_words(report.verdict.info), stop_words(report.verdict.info, way_on)))],
        )
    )


def verdicts_html(report: Report) -> dict[str, str]:
    """The verdict alone in every language, to be put into a page of ours."""
    found = {}
    for language in languages():
        with in_language(language):
            found[language] = _templates().get_template("verdict.html").render(**_told(report))
    return found


def in_every_language(sentence: str) -> dict[str, str]:
    """A sentence of ours, by the language of the page that shows it."""
    found = {}
    for language in languages():
        with in_language(language):
            found[language] = said(sentence)
    return found


def live_page() -> str:
    """The page on which runs are shown as they grow; it asks for everything else itself."""
    needed = [name for name in TEXT if name.startswith(("live_", "theme")) or name in ("steps", "other_language")]
    text = {}
    for language in languages():
        with in_language(language):
            text[language] = {name: template(TEXT[name]) for name in needed}
    return _templates().get_template("live.html").render(text=in_script(text))


def _told(report: Report) -> dict[str, Any]:
    return {
        "verdict": report.verdict,
        "nothing": _nothing(report.verdict, report.run),
        "diagnoses": [_diagnosis(d, report) for d in report.verdict.diagnoses],
        "chain": _chain(report),
    }


def prose(text: str) -> Markup:
    """A sentence with its backticks as code.

    >>> prose("`a<b` is 0")
    Markup('<code>a&lt;b</code> is 0')
    """
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _run_facts(verdict: Verdict) -> list[str]:
    info = verdict.info
    facts = []
    if info.started:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.started))
        facts.append(say("ran", command=" ".join(info.argv), seconds=duration(info.seconds), when=when))
    if info.steps:
        facts.append(say("steps", steps=info.steps))
    if skipped := skip_words(info):
        facts.append(skipped)
    if info.stopped_by_us:
        facts.append(say("stopped", step=info.sick_step))
    elif info.signal:
        facts.append(say("killed", signal=info.signal))
    elif info.exit_code:
        facts.append(say("ended", status=info.exit_code))
    return facts


def _nothing(verdict: Verdict, run: Run) -> str:
    """What stands at the top of a page without findings."""
    if verdict.diagnoses or verdict.unexplained:
        return ""
    plan = run.last(MemoryPlan)
    if plan is not None:
        return shares.memory_summary(plan)
    if run.first(DataSource) is not None:
        return say("nothing_wrong")
    if not verdict.info.steps:
        return say("nothing_trained")
    return say("interrupted" if verdict.info.was_interrupted else "nothing_found", steps=verdict.info.steps)


def _diagnosis(diagnosis: Diagnosis, report: Report) -> dict[str, Any]:
    diagnosis = spoken_diagnosis(diagnosis)
    windows = [window(also.location, "", also.why, report.sources) for also in diagnosis.also]
    if diagnosis.where is not None:
        windows.insert(0, window(diagnosis.where, diagnosis.mark, diagnosis.label, report.sources))
    about = translated_page(report.pages.get(diagnosis.code, ""), diagnosis.name)
    return {"said": diagnosis, "windows": windows, "page": _rule_page(about)}


def _rule_page(text: str) -> Markup:
    """A rule's Markdown as HTML, one level down, without its title; raw HTML in it stays text."""
    if not text:
        return Markup("")
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark", {"html": False}).render(re.sub(r"\A# .*\n", "", text))
    return Markup(re.sub(r"<(/?)h[1-6]>", r"<\1h4>", html))


def _chain(report: Report) -> Markup:
    """The way of the trouble belongs to the first diagnosis, and only if that is about numbers."""
    first = next(iter(report.verdict.diagnoses), None)
    found = chain.stations(report.run) if first is not None and first.family == "numerics" else []
    return drawing.picture(found) if len(found) > 1 else Markup("")


def asset(name: str) -> Markup:
    """A style sheet or script of ours, to be put into a page as it is."""
    return Markup((_FOLDER / name).read_text(encoding="utf-8"))


@functools.cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (_FOLDER / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        say=say, languages=languages, asset=asset, static_plot=plot.static_plot, heat_picture=heat.picture
    )
    environment.filters.update(prose=prose, said=said, exception=spoken_exception)
    return environment
