"""`.grad` of a tensor that is the result of an operation, and therefore None."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, quoted, said, tensors, user_line
from torchmedic.rules.errors._syntax import Code


class GradientOfResult(Rule):
    """`backward` fills `.grad` of leaves alone; an update that binds the name anew has made a result of the weight."""

    code = "ERR200"
    name = "gradient-of-result"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message speaks of a NoneType, and the line reads `.grad` of a tensor that has a `grad_fn`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        if crash is None or line is None or said(crash, "NoneType") is None:
            return
        code = Code.of(run)
        known = {name: tensor for name, tensor in tensors(crash.user_frame) if not tensor.is_leaf}
        name = next((read for read in _read_at(code, line) if read in known), None)
        if name is not None:
            yield self._told(code, line, name, known[name])

    def _told(self, code: Code, line: Location, name: str, tensor: TensorSummary) -> Diagnosis:
        made = _made(code, line, name)
        where = made or line
        is_update = made is not None and name in _read_at(code, made)
        return self.diagnose(
            headline=f"`{name}.grad` is None: {quoted(name)} is no leaf, but the result of an operation",
            confidence="proven",
            where=where,
            label="binds the name to a new tensor" if is_update else "makes a result, not a leaf" if made else "",
            also=also((line, "its gradient is needed here"), but=where),
            culprit=Culprit(tensor=name, op=tensor.grad_fn or None, phase="update" if is_update else "setup"),
            evidence=(
                f"{quoted(name)} has the `grad_fn` `{tensor.grad_fn}`" if tensor.grad_fn else f"`{name}` is no leaf",
                "`backward` fills `.grad` of leaves alone: tensors made with `requires_grad`, and parameters",
            ),
            remedies=(
                (
                    Remedy(title=f"change the weight in place, under `torch.no_grad()`: `{name} -= …`"),
                    Remedy(title="or let an optimizer of `torch.optim` make the updates"),
                )
                if is_update
                else (
                    Remedy(title=f"if `{name}` is a weight, end its making with `.detach().requires_grad_()`"),
                    Remedy(title=f"if it is a result whose gradient is asked for, call `{name}.retain_grad()` before"),
                )
            ),
        )


def _read_at(code: Code, line: Location) -> list[str]:
    """What `.grad` is read of at a line, as it is written."""
    nodes = (node for statement in code.statements(line) for node in ast.walk(statement))
    return [ast.unparse(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr == "grad"]


def _made(code: Code, line: Location, name: str) -> Location | None:
    """The binding that made a result: an update that reads its own gradient, else the one that reaches the line."""
    bound = [a for a in code.assignments(name, line) if a.how == "assign"]
    updates = [a for a in bound if name in _read_at(code, a.location)]
    if updates:
        return updates[0].location
    last = code.last_assignment(name, line)
    return last.location if last is not None and last.how == "assign" else None
