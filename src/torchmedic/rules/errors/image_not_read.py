"""A picture that OpenCV could not read: `imread` says so with None only, and the next line fails."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Frame, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_EMPTY = r"Assertion failed\) !\w+\.empty\(\)(?: in function '(?:cv::)?(?P<called>\w+)')?"
_NONE = r"'?NoneType'? (?:object|takes)|not NoneType"
_READERS = ("imread", "imdecode")


class ImageNotRead(Rule):
    """`cv2.imread` returns None for a file that is missing or that it cannot read, and raises nothing."""

    code = "ERR103"
    name = "image-not-read"
    symptoms = (Symptom.CRASH,)
    tell_apart = "OpenCV's `!_src.empty()`, or a None that `imread` returned"
    needs = (Crash,)
    folds = ("none-result", "failing-sample")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, _EMPTY, _NONE)
        frame = crash.user_frame if crash is not None else None
        if crash is None or found is None or frame is None:
            return
        code, showed = Code.of(run), frame.location
        name, read, call = _picture(code, frame)
        is_empty = found.re.pattern == _EMPTY
        if read is None and not (is_empty and crash.source == "text"):
            return
        picture = f"`{name}`" if name else "the picture"
        reader = f"`{dotted(call.func)}`" if call is not None else "`cv2.imread`"
        where = read or showed
        yield self.diagnose(
            headline=f"{reader} gave None for {picture}: the file is missing or cannot be read"
            if read is not None
            else f"`{found['called'] or 'cv2'}` was given no picture: the file is missing or cannot be read",
            confidence="proven" if read is not None else "likely",
            where=where,
            label="gives None, without an exception" if read is not None else "",
            also=also((user_line(crash), "the None is used here"), but=where),
            culprit=Culprit(phase="data", tensor=name or None, op="imread"),
            evidence=tuple(_evidence(frame, call)),
            remedies=tuple(_cures(name, call)),
        )


def _picture(code: Code, frame: Frame) -> tuple[str, Location | None, ast.Call | None]:
    """The variable of the failing line that is None, and the call of `imread` that it came from."""
    for name in code.names(frame.location):
        held = frame.value(name)
        bound = code.last_assignment(name, frame.location) if held is not None and held.type == "NoneType" else None
        call = bound.value if bound is not None else None
        if bound is not None and isinstance(call, ast.Call) and dotted(call.func).rpartition(".")[2] in _READERS:
            return name, bound.location, call
    return "", None, None


def _evidence(frame: Frame, call: ast.Call | None) -> Iterator[str]:
    path = ast.unparse(call.args[0]) if call is not None and call.args else ""
    held = frame.value(path)
    if held is not None and held.text:
        yield f"there, `{path}` is {held.text[:120]}"
    yield "`cv2.imread` raises nothing when a path is wrong or a file is broken: it returns None"


def _cures(name: str, call: ast.Call | None) -> Iterator[Remedy]:
    path = ast.unparse(call.args[0]) if call is not None and call.args else "path"
    yield Remedy(
        title="test it where it is read, so that the message names the file",
        diff=f"+ if {name or 'img'} is None:\n+     raise FileNotFoundError({path})",
    )
    yield Remedy(
        title="then look whether the path is there: the folder, the ending, upper and lower case",
        detail="on Windows a path with letters outside ASCII needs `cv2.imdecode(np.fromfile(path, np.uint8), 1)`",
    )
