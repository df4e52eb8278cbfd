"""A parameter or other leaf changed in place while gradients are recorded."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_PATTERNS = (
    r"a leaf Variable that requires grad is being used in an in-place operation",
    r"a view of a leaf Variable that requires grad is being used in an in-place operation",
)


class InplaceOnLeaf(Rule):
    """Autograd cannot record a change of the very tensor whose gradient is wanted."""

    code = "ERR013"
    name = "inplace-on-leaf"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message speaks of a leaf Variable"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        if crash is None or line is None or said(crash, *_PATTERNS) is None:
            return
        changed = (_changed(statement) for statement in Code.of(run).statements(line))
        name, words = next((c for c in changed if c[0]), ("", ""))
        frame = crash.user_frame
        value = frame.value(name) if frame is not None else None
        form = f", {value.tensor} with `requires_grad=True`" if value is not None and value.tensor is not None else ""
        yield self.diagnose(
            headline=f"`{name or 'a leaf tensor'}` is a leaf that needs a gradient and was changed in place"
            + (f" by `{words}`" if words else ""),
            confidence="proven",
            where=line,
            culprit=Culprit(tensor=name or None, parameter=name or None, op=words or None, phase="forward"),
            evidence=(f"`{name}` is a leaf{form}: it is no result of an operation",) if name else (),
            remedies=(
                Remedy(title="to change the value itself (as an update does), wrap the line in `torch.no_grad()`"),
                Remedy(title=f"to compute with a changed copy, start from `{name or 'x'}.clone()`"),
            ),
        )


def _changed(statement: ast.stmt) -> tuple[str, str]:
    """The name that a statement changes in place, and the words that do it."""
    if isinstance(statement, ast.AugAssign):
        return dotted(statement.target), f"{ast.unparse(statement).partition('=')[0]}=".strip()
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        return dotted(statement.targets[0]), f"{ast.unparse(statement.targets[0])} ="
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
            return dotted(node.func.value), f".{node.func.attr}()"
    return "", ""
