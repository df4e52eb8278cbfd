"""From a run file to an HTML report: gathers what the page is drawn from."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from torchmedic import sampled
from torchmedic.facts import Run, Series
from torchmedic.findings import Verdict
from torchmedic.ranks.merging import rank_files
from torchmedic.redaction import redact
from torchmedic.render.html import Report, fragment, page
from torchmedic.rules import by_code
from torchmedic.rules import page as rule_page

PerRank = tuple[tuple[Series, ...], ...]
Sources = dict[str, tuple[str, ...]]
REPORT_FILE = "report.html"
_LARGEST_SOURCE = 2 << 20


def html_report(
    path: Path | None, run: Run, verdict: Verdict, *, light: bool = False, sources: Sources | None = None
) -> str:
    """The page of a run whose file lies at `path`; light pages have pictures instead of interactive charts.

    A check-up has no run file (`path` is None). `sources` are the lines of code that lies in no file.
    """
    columns = 120 if light else 240
    curves, layers = sampled_series(path, points=600, columns=columns) if path is not None else ((), ())
    report = Report(
        verdict=verdict,
        run=run,
        curves=curves,
        layers=layers,
        sources={**sources_of(run, verdict), **(sources or {})},
        pages=rule_pages(verdict),
    )
    return page(report, plotly="" if light else plotly_script())


def sampled_series(path: Path, *, points: int, columns: int) -> tuple[PerRank, tuple[Series, ...]]:
    """The curves of each rank (or of the one process), and the layers of the first."""
    files = (rank_files(path) if path.is_dir() else []) or [path]
    return tuple(tuple(sampled.curves(file, points)) for file in files), tuple(sampled.layers(files[0], columns))


def html_fragment(run: Run, verdict: Verdict, *, sources: Sources, report: str = "", way_on: str = "") -> str:
    """The verdict alone, to be shown below a cell; `report` is where the whole page lies.

    `way_on` is the option with which a run goes on that was stopped.
    """
    found = {**sources_of(run, verdict), **sources}
    told = Report(verdict=verdict, run=run, sources=found, pages=rule_pages(verdict))
    return fragment(told, report_path=report, way_on=way_on)


def plotly_script() -> str:
    """The script that plotly brings along; empty where plotly is not installed."""
    spec = importlib.util.find_spec("plotly")
    if spec is None or spec.origin is None:
        return ""
    script = Path(spec.origin).parent / "package_data" / "plotly.min.js"
    return script.read_text(encoding="utf-8") if script.exists() else ""


def sources_of(run: Run, verdict: Verdict) -> Sources:
    """The files that diagnoses point at, as they are now; those that are gone or too large are left out."""
    places = [place for d in verdict.diagnoses for place in (d.where, *(also.location for also in d.also)) if place]
    found = {}
    for file in {place.file for place in places}:
        path = Path(run.info.cwd) / file
        try:
            if path.is_file() and path.stat().st_size <= _LARGEST_SOURCE:
                source = path.read_text(encoding="utf-8", errors="replace")
                found[file] = tuple(redact(line) for line in source.splitlines())
        except OSError:
            continue
    return found


def rule_pages(verdict: Verdict) -> dict[str, str]:
    rules = {d.code: by_code(d.code) for d in verdict.diagnoses}
    return {code: rule_page(rule) for code, rule in rules.items() if rule is not None}
