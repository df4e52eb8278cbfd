"""Something other than a leaf tensor given to an optimizer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, quoted, said, tensors, user_line
from torchmedic.rules.errors._syntax import Code, dotted, dotted_names


class NonLeafParameter(Rule):
    """An optimizer was given a computed tensor, a name, or a module."""

    code = "ERR059"
    name = "non-leaf-parameter"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`can't optimize a non-leaf Tensor`, or `optimizer can only optimize Tensors`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        showed = user_line(crash) if crash is not None else None
        if crash is None or showed is None:
            return
        kind = said(crash, r"optimizer can only optimize Tensors, but one of the params is (?P<type>[\w.]+)")
        if kind is not None:
            yield self._no_tensor(kind.group("type"), showed)
        elif said(crash, "can't optimize a non-leaf Tensor", "params argument given to the optimizer should be"):
            yield from self._no_leaf(run, crash, showed)

    def _no_leaf(self, run: Run, crash: Crash, showed: Location) -> Iterator[Diagnosis]:
        if said(crash, "should be an iterable"):
            yield self._no_tensor("a single tensor", showed)
            return
        code = Code.of(run)
        name, grad_fn = _computed(crash, code, showed)
        made = code.last_assignment(name, showed) if name else None
        if made is None and "." in name:
            made = next(iter(code.attribute_assignments(name.rpartition(".")[2])), None)
        where = made.location if made is not None else _computed_from_leaf(code) or showed
        written, name = name or "w", name or "the tensor"
        yield self.diagnose(
            headline=f"{quoted(name)} is the result of an operation, not a leaf, so nothing can update it",
            confidence="proven",
            where=where,
            label=f"made by `{grad_fn}`" if grad_fn else "computed here" if where != showed else "",
            also=also((showed, "given to the optimizer here"), but=where),
            culprit=Culprit(tensor=name, op=grad_fn or None, phase="setup"),
            evidence=(
                "`.to(device)`, `* 0.1` and `.view(…)` make a new tensor; only a leaf collects a gradient in `.grad`",
            ),
            remedies=(
                Remedy(title=f"mark the finished tensor: `{written} = (…).detach().requires_grad_()`"),
                Remedy(title="or hold it as `nn.Parameter(…)` on a module"),
            ),
        )

    def _no_tensor(self, kind: str, showed: Location) -> Diagnosis:
        return self.diagnose(
            headline=f"the optimizer was given a `{kind}` where it needs tensors",
            confidence="proven",
            where=showed,
            culprit=Culprit(phase="setup", op="optimizer"),
            evidence=(),
            remedies=(Remedy(title=_cure(kind, showed.source)),),
        )


def _cure(kind: str, source: str) -> str:
    if "children" in source or "modules" in source or re.search(r"[A-Z]", kind):
        return "pass parameters, not modules: `layer.parameters()`"
    if kind in ("tuple", "str"):
        return "use `parameters()` instead of `named_parameters()` or `state_dict()`"
    return "pass a list of tensors: `[w]`"


def _computed_from_leaf(code: Code) -> Location | None:
    """The one line that makes a tensor to be learned and computes with it in the same breath."""
    found = [
        code.place(file, node)
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, (ast.BinOp, ast.Call)) and any(_is_new_leaf(part) for part in _operands(node))
    ]
    lines = {(place.file, place.line): place for place in found}
    return next(iter(lines.values())) if len(lines) == 1 else None


def _operands(node: ast.BinOp | ast.Call) -> tuple[ast.expr, ...]:
    if isinstance(node, ast.BinOp):
        return node.left, node.right
    is_method = isinstance(node.func, ast.Attribute) and not node.func.attr.endswith("_")
    return (node.func.value,) if is_method and isinstance(node.func, ast.Attribute) else ()


def _is_new_leaf(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    marked = any(k.arg == "requires_grad" and getattr(k.value, "value", None) is True for k in node.keywords)
    return marked or dotted(node.func).rpartition(".")[2] in ("Parameter", "requires_grad_")


def _computed(crash: Crash, code: Code, showed: Location) -> tuple[str, str]:
    """The variable of the line that is no leaf, and the operation that made it."""
    statement = code.statement(showed)
    names = dotted_names([statement]) if isinstance(statement, ast.stmt) else ()
    frame = crash.user_frame
    held = [(n, t) for n, t in tensors(frame) if not t.is_leaf and (n in names or n.partition("[")[0] in names)]
    return (held[0][0], held[0][1].grad_fn) if held else ("", "")
