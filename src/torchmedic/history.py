"""Whether the guilty line changed lately, for a script that lies in a git repository."""

from __future__ import annotations

import subprocess
import time
from dataclasses import replace
from pathlib import Path

from torchmedic.facts import Location
from torchmedic.findings import Diagnosis, Verdict

_RECENT_DAYS = 30
_SECONDS = 5.0


def with_history(verdict: Verdict) -> Verdict:
    """The verdict with a note on the first diagnosis's line, if git knows of a recent change."""
    if not verdict.diagnoses or verdict.diagnoses[0].where is None:
        return verdict
    first = verdict.diagnoses[0]
    note = recent_change(verdict.diagnoses[0].where)
    return replace(verdict, diagnoses=(_noted(first, note), *verdict.diagnoses[1:])) if note else verdict


def _noted(diagnosis: Diagnosis, note: str) -> Diagnosis:
    return replace(diagnosis, evidence=(*diagnosis.evidence, note))


def recent_change(where: Location, now: float | None = None) -> str | None:
    """A sentence on the last change of a line; None outside a repository or when it is old."""
    path = Path(where.file)
    blamed = _blame(path, where.line)
    if blamed is None:
        return None
    commit, when, subject = blamed
    if not commit.strip("0"):
        return "this line is not committed yet: it changed since the last commit"
    days = ((now or time.time()) - when) / 86_400
    if days > _RECENT_DAYS:
        return None
    ago = "today" if days < 1 else f"{days:.0f} day{'s' if days >= 1.5 else ''} ago"
    return f"this line was last changed {ago} in commit {commit[:9]} ({subject})"


def _blame(path: Path, line: int) -> tuple[str, float, str] | None:
    try:
        done = subprocess.run(
            ["git", "blame", "--porcelain", "-L", f"{line},{line}", "--", path.name],
            cwd=path.parent if str(path.parent) else Path("."),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    rows = done.stdout.splitlines()
    if done.returncode or not rows:
        return None
    fields = dict(row.split(" ", 1) for row in rows[1:] if " " in row and not row.startswith("\t"))
    return rows[0].split(" ")[0], float(fields.get("author-time", 0)), fields.get("summary", "")
