"""The verdict on a failure that somebody pasted: a traceback, or no more than its last line."""

from __future__ import annotations

from dataclasses import replace

from torchmedic.facts import Crash, Frame, Location, Run
from torchmedic.findings import Diagnosis, Verdict
from torchmedic.rules import asked_of
from torchmedic.traceback_text import parse_traceback
from torchmedic.triage import examine

# Rules point at a line of the user's; where the text has none, this one is put in and taken out again.
_NOWHERE = Location(file="<nowhere>", line=0)
_MOST_LINES = 20
_LONGEST_MESSAGE = 2000
# What an error without its type may have been, the likeliest first.
_KINDS = ("RuntimeError", "ValueError", "TypeError", "IndexError", "AttributeError", "ImportError", "AssertionError")

_WITHOUT_FRAMES = "the line it comes from, and the shapes, dtypes, devices and values of the variables there"


def verdict_on(text: str) -> Verdict | None:
    """What a text tells of a failure; None when there is none in it that can be told."""
    crash = parse_traceback(text)
    if crash is None:
        return _of_message(text)
    return _with_source(_examined(crash), *_from_text(crash))


def _with_source(verdict: Verdict, known: str, missing: str) -> Verdict:
    return replace(verdict, extra={"from_text": {"known": known, "running_would_add": missing}})


def _of_message(text: str) -> Verdict | None:
    """Of a message without the name of its exception, where a rule knows it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for message in dict.fromkeys([" ".join(lines), *reversed(lines[-_MOST_LINES:])]):
        for kind in _KINDS if len(message) <= _LONGEST_MESSAGE else ():
            verdict = _examined(Crash(exception=kind, message=message, source="text"))
            if any(d.severity == "error" for d in verdict.diagnoses):
                return _with_source(verdict, "the message alone, no type and no frames", _WITHOUT_FRAMES)
    return None


def _examined(crash: Crash) -> Verdict:
    """The verdict on what ended the script, or else on the first exception behind it that a rule knows."""
    first = verdict = _placed(crash)
    while not verdict.diagnoses and crash.cause is not None:
        crash = crash.cause
        verdict = _placed(crash)
    return verdict if verdict.diagnoses else first


def _placed(crash: Crash) -> Verdict:
    """The verdict, without a place where the text names none of the user's."""
    if crash.user_frame is not None or crash.syntax is not None:
        return examine(Run(observations=(crash,)), asked_of(Crash.kind))
    frames = (*crash.frames, Frame(location=_NOWHERE, is_user=True))
    verdict = examine(Run(observations=(replace(crash, frames=frames),)), asked_of(Crash.kind))
    return replace(verdict, diagnoses=tuple(map(_without_place, verdict.diagnoses)))


def _without_place(found: Diagnosis) -> Diagnosis:
    also = tuple(other for other in found.also if other.location != _NOWHERE)
    if found.where != _NOWHERE:
        return replace(found, also=also)
    return replace(found, where=None, mark="", label="", also=also)


def _from_text(crash: Crash) -> tuple[str, str]:
    """What the text held, and what only a run can show."""
    own = sum(frame.is_user for frame in crash.frames)
    frames = "1 frame" if len(crash.frames) == 1 else f"{len(crash.frames)} frames"
    seen = f"{crash.called}, its message, {frames} ({own} of your own code)"
    if crash.cause is not None:
        seen += f", and {crash.cause.called} behind it"
    if crash.syntax is not None:
        return seen, "nothing more: the script does not compile, so it cannot run"
    if not crash.frames:
        return f"{crash.called} and its message, no frames", _WITHOUT_FRAMES
    return seen, (
        "shapes, dtypes, devices and values of the variables in these frames, the path of the failing module, "
        "the index of the sample being fetched"
    )
