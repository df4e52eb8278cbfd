"""`check_data`: the data check-up from Python, on files or on what a script holds in its hands."""

from __future__ import annotations

import contextlib
import os
import platform
import sqlite3
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from torchmedic.checkups.data.check import Checkup, check_paths
from torchmedic.checkups.data.objects import check_object
from torchmedic.checkups.data.options import Options
from torchmedic.facts import Location, Observation, Run, RunInfo
from torchmedic.findings import Verdict
from torchmedic.probes.source.frames import user_location
from torchmedic.settings import from_environment
from torchmedic.store import RUN_FILE, append
from torchmedic.triage import examine


class DirtyDataError(AssertionError):
    """Data that `assert_clean_data` was given is not clean; the text is the report."""


@dataclass(frozen=True, repr=False)
class DataVerdict(Verdict):
    """The verdict about data. Printed, or left on the last line of a cell, it is the report."""

    def __repr__(self) -> str:
        return _drawn(self).strip() if self.diagnoses else "no trouble found"


def check_data(
    data: Any,
    *,
    group_by: str | Sequence[str] = (),
    label: str = "",
    id: str = "",
    time: str = "",
    split: str = "",
    where: str = "",
    trust: bool = False,
    samples: int | None = 2000,
) -> DataVerdict:
    """Look for dirt in a path, a frame, an array, a tensor, a graph, a Dataset, a DataLoader, or a dict of them.

    What comes back is printed as a report; `diagnoses` are its findings, `outcome` is "healthy" where there are none.
    Of a Dataset or DataLoader at most `samples` samples are fetched; None is all of them. Inside `torchmedic run` the
    findings are part of the run's report.

    >>> import numpy
    >>> check_data(numpy.array([1.0, numpy.nan, 3.0])).diagnoses[0].name
    'non-finite-values'
    """
    options = Options(
        group_by=(group_by,) if isinstance(group_by, str) and group_by else tuple(group_by),
        label=label,
        id=id,
        time=time,
        split=split,
        where=where,
        trust=trust,
    )
    checkup = _check(data, options, samples)
    asked = user_location(sys._getframe(1))
    seen = tuple(_asked_at(fact, asked) for fact in checkup.seen)
    _tell_run(seen)
    info = RunInfo(argv=("data",), python=platform.python_version())
    found = examine(Run(info=info, observations=seen))
    return DataVerdict(**{one.name: getattr(found, one.name) for one in fields(found)})


def assert_clean_data(data: Any, *, allow: Iterable[str] = (), hints: bool = False, **roles: Any) -> None:
    """Raise DirtyDataError with the report unless a check finds nothing; `allow` names codes or rules to accept.

    >>> assert_clean_data([[1.0, 2.0], [3.0, 4.0]])
    """
    accepted = set(allow)
    verdict = check_data(data, **roles)
    bad = [d for d in verdict.diagnoses if not {d.code, d.name} & accepted and (hints or d.severity != "hint")]
    if bad:
        raise DirtyDataError("\n" + _drawn(replace(verdict, diagnoses=tuple(bad))))


def _asked_at(fact: Any, asked: Location | None) -> Observation:
    """The fact with the line of the script that asked for it; what is only drawn needs none."""
    placed: Observation = replace(fact, asked=asked) if hasattr(fact, "asked") else fact
    return placed


def _check(data: Any, options: Options, samples: int | None) -> Checkup:
    if isinstance(data, str | os.PathLike):
        return check_paths((str(data),), options)
    if isinstance(data, list | tuple) and data and all(isinstance(one, str | os.PathLike) for one in data):
        return check_paths(tuple(str(one) for one in data), options)
    return check_object(data, options, samples)


def _tell_run(seen: tuple[Observation, ...]) -> None:
    """In a watched process the facts go to the run file."""
    settings = from_environment()
    if settings is not None:
        with contextlib.suppress(OSError, sqlite3.Error):
            append(Path(settings.run_folder) / RUN_FILE, seen)


def _drawn(verdict: Verdict) -> str:
    import io

    from torchmedic.render.terminal import paper
    from torchmedic.render.text import draw

    out = io.StringIO()
    draw(verdict, paper(out))
    return out.getvalue()
