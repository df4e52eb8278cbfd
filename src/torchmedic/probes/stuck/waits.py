"""What a thread waits for, told from its stack."""

from __future__ import annotations

import os
import re

from torchmedic.facts import Location
from torchmedic.late import late_dataclass

# Waits that show by themselves what is missing, before the first step as well.
TELLING = frozenset({"collective", "gradients", "loader", "file-lock", "pipe"})

LOCK_FILE = "lock-file"
JOINING = "init_process_group"
# A process that ends waits in here until all it has put into its queues was taken.
_HANDS_OVER = "_finalize_join"
_C10D = "distributed_c10d.py"
_NEAR = 4  # frames: a model's own code that hangs below the wrapper's `forward` is further in
_BY_FILE = {
    "subprocess.py": "process",
    "popen_fork.py": "process",
    "ssl.py": "network",
    "socket.py": "network",
    "selectors.py": "process",
    "_api.py": "file-lock",
    "_unix.py": "file-lock",
}
_BY_WORD = (
    ("file-lock", r"\b(?:flock|lockf)\("),
    ("sleep", r"\b(?:sleep|input|breakpoint|pause|sigwait)\("),
    ("process", r"\b(?:waitpid|communicate)\(|\bos\.wait"),
    ("network", r"\b(?:recv|accept|connect|urlopen|urlretrieve|read1)\("),
    ("device", r"\.(?:synchronize|item|cpu|tolist|numpy)\("),
    ("lock", r"\b(?:acquire|wait|join|get|put|result)\(|\bwith\b.*(?:lock|mutex|condition|semaphore)\b"),
)


@late_dataclass(frozen=True)
class Wait:
    """A kind of wait and the function that waits."""

    kind: str = ""
    call: str = ""


def waits_for(stack: tuple[Location, ...], user: Location | None, *, in_ddp: bool) -> Wait:
    """What a stack (innermost first) waits for; `in_ddp` says that backward exchanges gradients between ranks."""
    inner = stack[: stack.index(user)] if user in stack else stack
    for depth, at in reversed(list(enumerate(inner))):
        base, function = os.path.basename(at.file), at.function.rpartition(".")[2]
        if base == _C10D and not function.startswith("_"):
            return Wait("collective", function)
        if base == "distributed.py" and f"nn{os.sep}parallel" in at.file and depth < _NEAR:
            return Wait("collective", "DistributedDataParallel" + ("" if function == "__init__" else f".{function}"))
        if function == "_engine_run_backward" and in_ddp:
            return Wait("gradients", "backward")
        if base == "dataloader.py":
            return Wait("loader", function)
    if any(at.function.rpartition(".")[2] == _HANDS_OVER for at in inner):
        return Wait("reader", _HANDS_OVER)  # that one has to say why it does not read
    for at in inner:
        base = os.path.basename(at.file)
        kind = _BY_FILE.get(base, "")
        if kind and (kind != "file-lock" or "filelock" in at.file):
            return Wait(kind, at.function)
        if base in ("threading.py", "queues.py", "queue.py"):
            return Wait("lock", at.function)
    return _by_word(user) if user is not None and not inner else Wait()


def _by_word(user: Location) -> Wait:
    """The thread stands in the user's own line: the function it calls has no Python frame, but the line names it."""
    for kind, words in _BY_WORD:
        found = re.search(words, user.source)
        if found is not None:
            return Wait(kind, found.group(0).rstrip("("))
    return Wait()
