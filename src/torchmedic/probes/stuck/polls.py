"""Loops that ask again and again, with a pause in between, whether a lock file is free."""

from __future__ import annotations

import ast
import functools
import itertools
import os
from collections.abc import Iterator
from types import CodeType, FrameType

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.source.expressions import called_name, function_of, parsed, peek
from torchmedic.probes.source.frames import is_user_file, location, outward

_DEEP = 6
_PAUSES = frozenset({"sleep", "wait"})
_ASKS = frozenset({"exists", "lexists", "isfile", "is_file", "isdir", "is_dir"})
_TAKES = frozenset({"open", "mkdir", "symlink", "link", "touch", "flock", "lockf"})
_REFUSALS = frozenset({"FileExistsError", "OSError", "IOError", "BlockingIOError", "PermissionError"})
# What a loop that only waits may do on the way: tell the time, say that it waits, look at the lock, give up.
# fmt: off
_ASIDE = frozenset({
    "time", "monotonic", "perf_counter", "now", "print", "log", "debug", "info", "warning", "warn", "error", "flush",
    "write", "read", "read_text", "close", "len", "min", "max", "int", "float", "str", "round", "format", "join",
    "stat", "getmtime", "basename", "dirname", "Path", "abspath", "getpid", "get_rank", "uniform", "random",
})
# fmt: on
_GIVES_UP = ("Error", "Exception", "Timeout", "Warning")
_NAMES = ("canonical", "lock_filename")  # of the file, in versions of that library
_LIBRARY = f"{os.sep}filelock{os.sep}"


@late_dataclass(frozen=True)
class Poll:
    """The call that polls, the lock file, where its name can be told, and the line that begins the loop."""

    frame: FrameType
    path: str = ""
    line: int = 0

    def place(self) -> Location | None:
        """The loop, where it is the user's own."""
        code = self.frame.f_code
        is_own = self.line and is_user_file(code.co_filename)
        return location(code.co_filename, self.line, code.co_qualname) if is_own else None


def polled_lock(frame: FrameType | None) -> Poll | None:
    """The poll for a lock file that a thread is in."""
    for at in itertools.islice(outward(frame), _DEEP):
        if at.f_code.co_name == "acquire" and _LIBRARY in at.f_code.co_filename:
            return Poll(at, _text(next((at.f_locals[name] for name in _NAMES if name in at.f_locals), None)))
        if _PAUSES.isdisjoint(at.f_code.co_names) or (_ASKS | _TAKES).isdisjoint(at.f_code.co_names):
            continue
        line, file = _lock_asked_for(at.f_code, at.f_lineno or 0)
        if line:
            return Poll(at, _text(peek(file, at)), line)
    return None


def _text(path: object) -> str:
    return os.fspath(path) if isinstance(path, (str, os.PathLike)) and isinstance(os.fspath(path), str) else ""


@functools.lru_cache(maxsize=256)
def _lock_asked_for(code: CodeType, line: int) -> tuple[int, ast.expr | None]:
    """The loop that goes on for as long as a file is there and only waits, around a line, and that file.

    One that does anything else is no wait: work may be meant to go on for as long as a file is there.
    """
    scope = function_of(code) or (parsed(code.co_filename) if code.co_name == "<module>" else None)
    whiles = [n for n in ast.walk(scope) if isinstance(n, ast.While)] if scope is not None else []
    for loop in reversed([n for n in whiles if n.lineno <= line <= (n.body[-1].end_lineno or 0)]):
        names = {called_name(call).rpartition(".")[2] for call in _calls(loop)}
        if not names.isdisjoint(_PAUSES) and all(map(_only_waits, names)) and not _has_loops(loop):
            for file in (*_stays_while_there(loop.test), *_is_refused(loop)):
                return loop.lineno, file
    return 0, None


def _only_waits(name: str) -> bool:
    return name in _PAUSES | _ASKS | _TAKES | _ASIDE or name.endswith(_GIVES_UP)


def _has_loops(loop: ast.While) -> bool:
    return any(isinstance(node, (ast.For, ast.While)) for step in loop.body for node in ast.walk(step))


def _calls(scope: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(scope) if isinstance(node, ast.Call))


def _stays_while_there(test: ast.expr) -> Iterator[ast.expr | None]:
    """`while os.path.exists(lock)`: a loop that waits for a file to come may do so for as long as it likes."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    for part in parts:
        if isinstance(part, ast.Call) and called_name(part) in _ASKS:
            yield part.args[0] if part.args else part.func.value if isinstance(part.func, ast.Attribute) else None


def _is_refused(loop: ast.While) -> Iterator[ast.expr | None]:
    """`try: os.open(lock, os.O_CREAT | os.O_EXCL)` and a pause where somebody else was first."""
    for tried in (node for node in ast.walk(loop) if isinstance(node, ast.Try)):
        refused = {ast.unparse(part) for handler in tried.handlers if handler.type for part in _kinds(handler.type)}
        for call in (call for step in tried.body for call in _calls(step) if refused & _REFUSALS):
            if called_name(call) in _TAKES and _is_exclusive(call):
                is_path = called_name(call) not in ("flock", "lockf")
                yield (call.args[0] if call.args else None) if is_path and not _is_method(call) else None


def _kinds(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _is_method(call: ast.Call) -> bool:
    """`path.mkdir()`, not `os.mkdir(path)`: there the first argument is another thing."""
    return isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) not in ("os", "io", "builtins")


def _is_exclusive(call: ast.Call) -> bool:
    """Whether a call fails where the file is there, or locked."""
    name, given = called_name(call), [ast.unparse(a) for a in (*call.args, *(k.value for k in call.keywords))]
    if name == "open":
        return any("O_EXCL" in word or word in ("'x'", "'xb'", "'x+'") for word in given)
    if name in ("flock", "lockf"):
        return any("LOCK_NB" in word for word in given)
    if name == "touch":
        return any(k.arg == "exist_ok" and ast.unparse(k.value) == "False" for k in call.keywords)
    return not any(k.arg == "exist_ok" and ast.unparse(k.value) == "True" for k in call.keywords)
