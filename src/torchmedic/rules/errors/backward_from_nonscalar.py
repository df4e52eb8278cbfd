"""`backward` from a tensor with more than one value."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules._code import receiver
from torchmedic.rules.errors._reading import also, crash_in, quoted, said, shape, tensors_on_line, user_line
from torchmedic.rules.errors._syntax import Code


class BackwardFromNonscalar(Rule):
    """A loss with a value per sample was not reduced to one number."""

    code = "ERR016"
    name = "backward-from-nonscalar"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message says that grad can be created for scalar outputs only"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        if (
            crash is None
            or line is None
            or said(crash, r"grad can be implicitly created only for scalar outputs") is None
        ):
            return
        code = Code.of(run)
        mentioned = [(n, t) for n, t in tensors_on_line(run, crash.user_frame) if t.requires_grad]
        name, form = mentioned[0] if mentioned else ("the loss", None)
        bound = code.last_assignment(name, line) if form is not None else None
        where = bound.location if bound is not None and bound.how == "assign" else line
        unreduced = _unreduced(code)
        yield self.diagnose(
            headline=f"{quoted(name)} has {form.numel if form else 'several'} values"
            + (f" {shape(form.shape)}" if form else "")
            + "; `backward` starts from one",
            confidence="proven",
            where=where,
            label=f"shape {shape(form.shape)}" if form is not None else "",
            also=also((line, "`backward` is called here"), (unreduced, "not reduced here"), but=where),
            culprit=Culprit(tensor=name, phase="backward", op="backward"),
            evidence=("the loss is built with `reduction='none'`",) if unreduced is not None else (),
            remedies=(
                Remedy(title=f"reduce it to one number: `{receiver(name)}.mean().backward()`"),
                *([Remedy(title="or leave out `reduction='none'`")] if unreduced is not None else []),
            ),
        )


def _unreduced(code: Code) -> Location | None:
    """The call that asks for a loss per sample."""
    for tree_file, tree in code.trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and any(
                k.arg == "reduction" and isinstance(k.value, ast.Constant) and k.value.value == "none"
                for k in node.keywords
            ):
                return code.place(tree_file, node)
    return None
