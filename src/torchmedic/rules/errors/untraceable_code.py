"""Code that `torch.compile` or a tracer cannot turn into one graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code

_USER_CODE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')
_BRANCH = (
    r"data-dependent (?:branching|jump|control flow)|symbolically traced variables cannot be used as inputs to control"
)
_INNER = r"got (\w+)\([\"'](.*?)[\"'],?\)"
_LIBRARY = re.compile(r"site-packages|dist-packages|[/\\]lib[/\\]python3")


class UntraceableCode(Rule):
    """A graph was asked for in one piece, and a line of the model cannot be part of it."""

    code = "ERR271"
    name = "untraceable-code"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`torch._dynamo.exc.Unsupported`, or a tracer that refuses control flow"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or not _is_refusal(crash):
            return
        inner = said(crash, _INNER) if crash.type_name == "TorchRuntimeError" else None
        if inner is not None:
            yield self._failing(run, crash, inner[1], inner[2])
            return
        line, code = user_line(crash), Code.of(run)
        where = _in_user_code(code, crash) or line
        branches = said(crash, _BRANCH) is not None
        why = re.search(r"Explanation: (.+)", crash.message)
        yield self.diagnose(
            headline="this line decides by the values of a tensor, which a traced graph cannot"
            if branches
            else f"`torch.compile` cannot trace this line: {_first(crash)}",
            confidence="proven",
            where=where,
            also=also((_compiled(code), "asked for in one graph here"), (line, "called here"), but=where),
            culprit=Culprit(phase="forward", op="torch.compile"),
            evidence=(_sentence(why[1]),) if why is not None and not branches else (),
            remedies=tuple(_remedies(crash, branches, _compiled(code) is not None)),
        )

    def _failing(self, run: Run, crash: Crash, kind: str, words: str) -> Diagnosis:
        """The line fails by itself; the compiler only met it first."""
        line = user_line(crash)
        where = _in_user_code(Code.of(run), crash) or line
        return self.diagnose(
            headline=f"this line raises `{kind}`, compiled or not: {words.strip()[:120]}",
            confidence="proven",
            where=where,
            also=also((line, "called here"), but=where),
            culprit=Culprit(phase="forward", op="torch.compile"),
            evidence=("`torch.compile` tries each operation on shapes alone before it runs",),
            remedies=(
                Remedy(title="make the sizes on this line fit each other"),
                Remedy(title="run with `TORCHDYNAMO_DISABLE=1`: the layer and the sizes are then told"),
            ),
        )


def _is_refusal(crash: Crash) -> bool:
    is_dynamo = "_dynamo" in crash.exception and crash.type_name in ("Unsupported", "UserError", "TorchRuntimeError")
    return is_dynamo or said(crash, _BRANCH) is not None


def _first(crash: Crash) -> str:
    return crash.message.strip().partition("\n")[0].strip().rstrip(".")[:80]


def _sentence(text: str) -> str:
    return text.strip().partition(". ")[0].rstrip(".")


def _in_user_code(code: Code, crash: Crash) -> Location | None:
    """The last line of the user's own on the stack that the message itself tells, below `from user code`."""
    told = crash.message.partition("from user code")[2] or crash.message
    for found in reversed(list(_USER_CODE.finditer(told))):
        if _LIBRARY.search(found["file"]):
            continue
        file = next((known for known in code.texts if found["file"].endswith(known)), found["file"])
        number = int(found["line"])
        function = code.qualname(file, number) or found["function"]
        return Location(file=file, line=number, function=function, source=code.line(file, number))
    return None


def _compiled(code: Code) -> Location | None:
    """The call that asks for the whole model in one graph."""
    for place, call in code.calls("compile", "export", "symbolic_trace"):
        whole = any(k.arg == "fullgraph" and isinstance(k.value, ast.Constant) and k.value.value for k in call.keywords)
        if whole:
            return place
    return None


def _remedies(crash: Crash, branches: bool, is_whole: bool) -> Iterator[Remedy]:
    if branches:
        yield Remedy(
            title="compute both sides and choose between them: `torch.where(condition, a, b)`; or `torch.cond`"
        )
        yield Remedy(title="an operation such as `clamp` changes nothing that is within its bounds: it needs no `if`")
    if is_whole or "_dynamo" in crash.exception:
        yield Remedy(title="leave `fullgraph=True` out: the graph is then cut here, and the rest still compiled")
    if not branches:
        yield Remedy(title="or keep the function out of the graph: `@torch.compiler.disable`")
