"""From pasted text to a Crash: Python, IPython and Rich tracebacks, in logs of any kind. Reads text, runs nothing.

Known limits: variables, shapes and devices are not in a traceback; a message is taken to end at the first blank
line that is not followed by indented text.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from torchmedic import traceback_lines as lines_
from torchmedic.facts import Crash, Frame, Location
from torchmedic.redaction import redact

MOST_FRAMES = 200
MOST_MESSAGE_LINES = 200
_SYNTAX = {"SyntaxError", "IndentationError", "TabError"}
# What a launcher or another rank says when somebody else has failed.
_SECOND_HAND = re.compile(r"ChildFailedError|Process(?:Raised|Exited)Exception|DistBackendError|RayTaskError")
# What a kernel prints by itself, before Python hears of it.
_KERNEL_ASSERTION = re.compile(r"Assertion `[^`\n]{1,300}` failed")
_WATCHDOG = re.compile(
    r"\[Rank \d+\] Watchdog caught collective operation timeout: Work\w+\([^)\n]*\)?[^)\n]*\)[^\n]{0,120}"
)
# What TorchScript writes behind a blank line of its own message.
_GOES_ON = ("The original call is:",)
_GROUP_MARGIN = re.compile(r"^\s*(?:\| ?|\+ (?=Exception Group))")


@dataclass
class _Trace:
    """One traceback while it is being read. `joined` says how it hangs on the one before it."""

    joined: str = ""
    in_group: bool = False
    boxed: bool = False
    prefix: re.Pattern[str] | None = None
    frames: list[Location] = field(default_factory=list)
    exception: str = ""
    message: list[str] = field(default_factory=list)
    numbered: bool = False
    caret: int | None = None
    ended: int = -1
    blank_seen: bool = False
    cut_path: str = ""
    notes: list[str] = field(default_factory=list)


def parse_traceback(text: str) -> Crash | None:
    """The last failure in a text; None when there is no traceback in it. Never raises."""
    finished: list[list[_Trace]] = []
    for stream in _streams(text).values():
        finished += _chains(_traces(stream))
    if not finished:
        return _late(text) or _bare_exception(text)
    first_hand = [chain for chain in finished if not _SECOND_HAND.search(chain[-1].exception)]
    crash = _crash(max(first_hand or finished, key=lambda chain: chain[-1].ended))
    late = _late(text) if _SECOND_HAND.search(crash.exception) else None
    crash = crash if late is None else replace(crash, exception=late.exception, message=late.message)
    failed = _KERNEL_ASSERTION.search(text) if "device-side assert" in crash.message else None
    return crash if failed is None else replace(crash, notes=(*crash.notes, redact(failed[0])))


def _late(text: str) -> Crash | None:
    """What the watchdog of a process group printed by itself: Python hears no more than that a process ended."""
    found = _WATCHDOG.search(text)
    return (
        Crash(exception="torch.distributed.DistBackendError", message=redact(found[0]), source="text")
        if found
        else None
    )


def _streams(text: str) -> dict[str, list[tuple[int, str]]]:
    """Numbered lines by the process that wrote them: ranks write between each other's lines."""
    streams: dict[str, list[tuple[int, str]]] = {}
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text)):
        label, line = lines_.split_stream(lines_.without_colours(raw))
        streams.setdefault(label, []).append((number, line))
    return {label: _without_gap(stream) if label else stream for label, stream in streams.items()}


def _without_gap(stream: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Labelled lines without the one space that some writers put after the label."""
    if any(line and not line.startswith(" ") for _, line in stream):
        return stream
    return [(number, line[1:]) for number, line in stream]


def _traces(stream: Iterable[tuple[int, str]]) -> list[_Trace]:
    reader = _Reader()
    for number, line in stream:
        reader.read(number, line)
    reader.close()
    return reader.traces


class _Reader:
    """Reads one stream line by line; each state of the current trace is one method."""

    def __init__(self) -> None:
        self.traces: list[_Trace] = []
        self._now: _Trace | None = None
        self._joint = ""
        self._in_group = False

    def read(self, number: int, line: str) -> None:
        line = self._without_margin(line)
        now = self._now
        if now is not None and now.prefix is not None:
            line = now.prefix.sub("", line, count=1)
        if lines_.HEADER in line[: lines_.LONGEST_LINE]:
            self._begin(line)
        elif kind := lines_.joint(line):
            self.close()
            self._joint = kind
        elif now is None:
            self._outside(line)
        elif now.exception:
            self._in_message(now, number, line)
        else:
            self._in_frames(now, number, line)

    def close(self) -> None:
        """End the current trace; one that never got to its exception is dropped."""
        if self._now is not None and self._now.exception:
            self.traces.append(self._now)
        self._now = None

    def _without_margin(self, line: str) -> str:
        if "Exception Group Traceback" in line[: lines_.LONGEST_LINE]:
            self._in_group = True
        if not self._in_group:
            return line
        if line.lstrip().startswith("+-") and not line.strip(" +-0123456789"):
            return ""
        bare = _GROUP_MARGIN.sub("", line, count=1)
        if bare == line and line.strip():
            self._in_group = False
        return bare

    def _begin(self, line: str) -> None:
        before = line[: line.index(lines_.HEADER)]
        joined = "worker" if before.rstrip().endswith("Original") and self._now is not None else self._joint
        keep = self._now.prefix if self._now is not None and joined == "worker" else None
        self.close()
        self._joint = ""
        boxed = lines_.is_box_edge(before)
        self._now = _Trace(
            joined=joined, in_group=self._in_group, boxed=boxed, prefix=keep if boxed else keep or _log_prefix(before)
        )

    def _outside(self, line: str) -> None:
        """A traceback may begin with a frame: Python prints no header for a script it could not compile."""
        place = lines_.frame_line(line)
        if place is not None and line.lstrip().startswith(("File ", "Cell In", "Input In")):
            self._now = _Trace(joined=self._joint, in_group=self._in_group)
            self._joint = ""
            self._now.frames.append(_location(place))
            self._now.numbered = place.numbered

    def _in_frames(self, now: _Trace, number: int, line: str) -> None:
        if now.boxed and lines_.is_box_edge(line):
            now.boxed = False
            return
        text = lines_.box_content(line) if now.boxed else line
        place = _boxed_place(now, text) if now.boxed else lines_.frame_line(text)
        if place is not None:
            now.numbered = place.numbered
            if len(now.frames) < MOST_FRAMES:
                now.frames.append(_location(place))
            else:
                now.frames[-1] = _location(place)
        elif source := lines_.numbered_source(text):
            _fill(now, *source)
        elif text[:1].isspace():
            self._in_source(now, text)
        elif not now.boxed and (now.frames or not text[:1].isspace()):
            self._maybe_exception(now, number, text)

    def _in_source(self, now: _Trace, text: str) -> None:
        if not now.frames or not text.strip() or now.numbered:
            return
        last = now.frames[-1]
        if lines_.is_carets(text):
            now.caret = lines_.caret_column(text) if now.caret is None else now.caret
        elif not last.source and text.startswith("    "):
            now.frames[-1] = replace(last, source=redact(text.strip()))
            now.caret = None

    def _maybe_exception(self, now: _Trace, number: int, text: str) -> None:
        found = lines_.exception_line(text, sure=not now.frames)
        if found is not None:
            now.exception = found[0]
            now.message = [found[1]]
            now.ended = number

    def _in_message(self, now: _Trace, number: int, line: str) -> None:
        if not line.strip():
            now.blank_seen = True
            return
        over = now.blank_seen and not line[:1].isspace() and not line.startswith(_GOES_ON)
        if over or len(now.message) >= MOST_MESSAGE_LINES:
            self.close()
            self._outside(line)
            return
        now.message.append(line.rstrip())
        now.ended = number
        now.blank_seen = False


def _log_prefix(before: str) -> re.Pattern[str] | None:
    """What a logger wrote before the header, to be taken off the lines that carry it too; digits may differ."""
    bare = before.removesuffix("Original ")
    if not bare.strip() or re.fullmatch(r"\w+\s{2,}", bare) or len(bare) > 200:
        return None
    return re.compile("^" + re.sub(r"\d+", r"\\d+", re.escape(bare)))


def _boxed_place(now: _Trace, text: str) -> lines_.FrameLine | None:
    """The place in a box line; Rich breaks a long path over two lines, even inside its line number."""
    candidates = [text] + ([now.cut_path + text, f"{now.cut_path} {text}"] if now.cut_path else [])
    place = next((found for found in map(lines_.frame_line, candidates) if found is not None), None)
    is_path = text.startswith(("/", "~")) or text[1:3] in (":\\", ":/")
    now.cut_path = text if is_path and place is None else ""
    return place


def _fill(now: _Trace, number: int, source: str) -> None:
    """Give the last frame the line and source that its arrow shows."""
    if now.frames and not now.frames[-1].source:
        last = now.frames[-1]
        now.frames[-1] = replace(last, line=last.line or number, source=redact(source.strip()))


def _location(place: lines_.FrameLine) -> Location:
    file = place.file.removeprefix(_here())
    return Location(file=redact(file), line=place.line, function=place.function)


def _here() -> str:
    try:
        return os.getcwd() + os.sep
    except OSError:
        return os.sep * 2


def _chains(traces: list[_Trace]) -> list[list[_Trace]]:
    """Traces that belong together, the one that ended the script last."""
    chains: list[list[_Trace]] = []
    for trace in traces:
        if chains and trace.joined in ("cause", "context"):
            chains[-1].append(trace)
        elif chains and trace.joined == "worker":
            # The worker's own traceback is printed inside the message of the outer one, so it comes after it.
            chains[-1].insert(len(chains[-1]) - 1, trace)
            chains[-1][-1].ended = trace.ended
        elif chains and trace.in_group and chains[-1][-1].in_group:
            _enter_group(chains[-1], trace)
        else:
            chains.append([trace])
    return chains


def _enter_group(chain: list[_Trace], member: _Trace) -> None:
    """The first member of an exception group stands for it; the group stays behind it."""
    group = chain[-1]
    if "Group" in group.exception:
        member.notes.append(f"inside {group.exception}: {group.message[0]}")
        chain[:] = [member]
    else:
        group.ended = member.ended


def _crash(chain: list[_Trace]) -> Crash:
    crash: Crash | None = None
    for trace in chain:
        crash = _one(trace, behind=crash)
    assert crash is not None  # a chain is never empty
    return crash


# Python's own guess at the end of the message of a NameError or AttributeError.
_MEANT = re.compile(r"Did you mean: '(\w+)'\?")


def _one(trace: _Trace, behind: Crash | None) -> Crash:
    message = redact("\n".join(trace.message).strip())
    frames = [Frame(location=place, is_user=not lines_.is_library(place.file)) for place in trace.frames]
    syntax = None
    if trace.exception.rpartition(".")[2] in _SYNTAX and frames:
        syntax = frames.pop().location
    return Crash(
        exception=trace.exception,
        message=message,
        frames=tuple(frames),
        cause=behind,
        handling=trace.joined == "context" and behind is not None,
        notes=tuple(redact(note) for note in trace.notes),
        source="text",
        near_names=tuple(_MEANT.findall(message)) or _near_attributes(message, trace, behind),
        syntax=syntax,
        syntax_column=None if syntax is None or trace.caret is None else max(1, trace.caret - 3),
    )


def _near_attributes(message: str, trace: _Trace, behind: Crash | None) -> tuple[str, ...]:
    """Attributes that the other lines of the traceback read from the object that lacks one: `args.resume`."""
    lacks = re.search(r"object has no attribute '(\w+)'$", message)
    owner = re.search(rf"\b(\w+)\.{lacks[1]}\b", trace.frames[-1].source) if lacks and trace.frames else None
    if lacks is None or owner is None or owner[1] == "self":
        return ()
    lines = [place.source for place in trace.frames]
    while behind is not None:
        lines += [frame.location.source for frame in behind.frames]
        behind = behind.cause
    known = {name for line in lines for name in re.findall(rf"\b{owner[1]}\.(\w+)\b(?!\()", line)} - {lacks[1]}
    return tuple(difflib.get_close_matches(lacks[1], sorted(known), n=3, cutoff=0.7))


def _bare_exception(text: str) -> Crash | None:
    """The last line that is an exception with its message, where somebody pasted only that."""
    for raw in reversed(re.split(r"\r\n|\r|\n", text)):
        _, line = lines_.split_stream(lines_.without_colours(raw).strip())
        found = lines_.exception_line(line, sure=True)
        if found is not None:
            return Crash(exception=found[0], message=redact(found[1]), source="text")
    return None
