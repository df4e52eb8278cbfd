"""`torchmedic.watch`: watching inside the user's own process, from a line of theirs to another."""

from __future__ import annotations

import atexit
import gc
import io
import os
import platform
import sys
import time
from pathlib import Path
from types import TracebackType

import torch
from rich.console import Console

from torchmedic import settings as options
from torchmedic.facts import Run, RunInfo
from torchmedic.findings import Verdict
from torchmedic.launch.parent import new_run_folder
from torchmedic.probes.crash.exceptions import crash_of
from torchmedic.probes.source.cells import is_notebook, name_cells
from torchmedic.probes.source.expressions import behind_wrappers
from torchmedic.probes.source.frames import is_own_file, shown_path
from torchmedic.probes.source.tracebacks import without_handing_on
from torchmedic.record import Recorder, name_script_again, say
from torchmedic.redaction import redact_argv
from torchmedic.render.diffs import with_diffs
from torchmedic.render.terminal import paper, terminal
from torchmedic.render.text import draw, draw_interventions, draw_occupied
from torchmedic.replay.doctor import SickRun
from torchmedic.reporting import REPORT_FILE, Sources, html_fragment, html_report
from torchmedic.settings import ON_SICK, RUN_FILE, OnSick
from torchmedic.store import Writer, create, load, update_info
from torchmedic.triage import examine
from torchmedic.watching import install_probes

# The watch that is on, if any: it lasts until it is stopped, however many cells or calls follow.
_running: list[Watch] = []


def watch(*, on_sick: OnSick = "stop", quiet: bool = False, name: str = "") -> Watch:
    """Watch what this process trains, from now until `stop()` or the end of the `with` block.

    A block is left at a sick step (`on_sick="stop"`), with the weights of the last good one; exceptions pass through.
    The verdict is printed on standard error unless `quiet`, and kept as `.verdict`. In a process that is watched
    already, by `torchmedic run` or an outer block, it does nothing.

    >>> with watch(quiet=True) as medic:
    ...     pass
    >>> medic.verdict.outcome
    'healthy'
    """
    if on_sick not in ON_SICK:
        raise ValueError(f"on_sick is one of {', '.join(ON_SICK)}, not {on_sick!r}")
    return Watch(on_sick=on_sick, quiet=quiet, name=name)


class Watch:
    """One stretch of watching; `verdict` is there when it is over."""

    def __init__(self, *, on_sick: OnSick, quiet: bool, name: str) -> None:
        self.verdict: Verdict | None = None
        self.run: Run | None = None
        self.folder: Path | None = None
        self.quiet = quiet
        self._told: Verdicts | None = None
        self._recorder: Recorder | None = None
        self._began = time.time()
        self.way_on = 'on_sick="continue"'
        self.tells_health = True
        if _is_watched():
            if _running and not quiet:
                draw_occupied(terminal(sys.stderr))
            return
        try:
            self._start(on_sick, name)
        except Exception as failure:  # noqa: BLE001 - our faults never take the user's block down
            say(f"could not watch ({type(failure).__name__}: {failure})")
            self._take_out()

    def _start(self, on_sick: OnSick, name: str) -> None:
        script = name or ("notebook" if is_notebook() else Path(sys.argv[0] or "python").name)
        self.folder = new_run_folder([script])
        info = RunInfo(
            argv=redact_argv((script, *sys.argv[1:])),
            cwd=os.getcwd(),
            python=platform.python_version(),
            torch=str(torch.__version__),
            started=self._began,
            folder=shown_path(str(self.folder)),
        )
        create(self.folder / RUN_FILE, info)
        settings = options.Settings(run_folder=str(self.folder), parent=os.getppid(), on_sick=on_sick)
        self._recorder = Recorder(settings, Writer(self.folder / RUN_FILE))
        name_cells()
        install_probes(self._recorder, born_before=_modules_alive())
        self._error_before = getattr(sys, "last_value", None)
        atexit.register(self._stop_at_exit)
        _running.append(self)

    @property
    def is_on(self) -> bool:
        return self._recorder is not None

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        was_ours = self.is_on
        self.stop(error if isinstance(error, Exception) else None)
        return was_ours and isinstance(error, SickRun)

    def stop(self, error: Exception | None = None) -> Verdict | None:
        """End the watching, take every probe out, and judge what was seen."""
        recorder = self._recorder
        if recorder is None or not recorder.is_ours:
            return self.verdict
        name_script_again()
        try:
            if error is not None:
                without_handing_on(error)
                recorder.observe(crash_of(error, step=recorder.step or None))
                recorder.crash(behind_wrappers(error))
            self._take_out()
            self._judge(recorder, error)
        except Exception as failure:  # noqa: BLE001
            say(f"could not say what happened ({type(failure).__name__}: {failure})")
            self._take_out()
        return self.verdict

    def _stop_at_exit(self) -> None:
        """The script is over, and what ended it may be an exception that no block of ours has seen."""
        error = getattr(sys, "last_value", None)
        self.stop(error if isinstance(error, Exception) and error is not self._error_before else None)

    def _take_out(self) -> None:
        recorder, self._recorder = self._recorder, None
        atexit.unregister(self._stop_at_exit)
        _running[:] = [other for other in _running if other is not self]
        if recorder is not None:
            recorder.finish()

    def _judge(self, recorder: Recorder, error: Exception | None) -> None:
        path = recorder.folder / RUN_FILE
        now = time.time()
        update_info(
            path,
            steps=recorder.step,
            ended=now,
            seconds=now - self._began,
            stopped_by_us=bool(recorder.stopped_in),
            stopped_in=recorder.stopped_in,
            skipped=recorder.skipped,
            exit_code=int(error is not None),
        )
        self.run = load(path)
        self.verdict = with_diffs(examine(self.run))
        sources = name_cells()
        report = recorder.folder / REPORT_FILE
        report.write_text(html_report(path, self.run, self.verdict, sources=sources), encoding="utf-8")
        self._told = Verdicts(self.verdict, self.run, sources, shown_path(str(report)), self.way_on)
        is_sick = bool(self.verdict.diagnoses or self.verdict.unexplained)
        if not self.quiet and (is_sick or self.tells_health):
            self._told.tell()

    def __str__(self) -> str:
        """The diagnoses as plain text."""
        return str(self._told) if self._told is not None else ""

    def _repr_html_(self) -> str | None:
        return self._told._repr_html_() if self._told is not None else None


class Verdicts:
    """A verdict that a notebook shows as HTML and a terminal as text."""

    def __init__(self, verdict: Verdict, run: Run, sources: Sources, report: str = "", way_on: str = "") -> None:
        self._verdict = verdict
        self._run = run
        self._sources = sources
        self._report = report
        self._way_on = way_on

    def tell(self) -> None:
        """Show it where the user looks: below the cell, or on standard error."""
        if is_notebook():
            from IPython.display import display

            display(self)  # type: ignore[no-untyped-call]
        else:
            self._draw(terminal(sys.stderr))

    def _repr_html_(self) -> str:
        return html_fragment(self._run, self._verdict, sources=self._sources, report=self._report, way_on=self._way_on)

    def __repr__(self) -> str:
        out = io.StringIO()
        self._draw(paper(out))
        return out.getvalue().rstrip()

    def _draw(self, console: Console) -> None:
        draw(self._verdict, console, report=self._report)
        draw_interventions(self._verdict, console, way_on=self._way_on)


def _is_watched() -> bool:
    """Whether probes are in place already: by `torchmedic run`, or by an outer block."""
    code = getattr(torch.autograd.backward, "__code__", None)
    return code is not None and is_own_file(code.co_filename)


def _modules_alive() -> list[torch.nn.Module]:
    """Modules that were built before anyone watched. By type: asking an object for its class may run its code."""
    return [found for found in gc.get_objects() if issubclass(type(found), torch.nn.Module)]
