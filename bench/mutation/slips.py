"""Mutators that stop a script or lose a state: misspelt names, sizes that do not fit, checkpoints that hold nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bench.mutation.script import MARK, Edit, Script, last_name, mutator


@mutator("ERR")
def method_misspelt(script: Script) -> Iterator[list[Edit]]:
    for call in script.calls("backward", "zero_grad", "train"):
        if isinstance(call.func, ast.Attribute):
            yield [script.append(call.func, f"{MARK}s")]


@mutator("ERR001", "ERR")
def forward_misspelt(script: Script) -> Iterator[list[Edit]]:
    for node in ast.walk(script.tree):
        if isinstance(node, ast.FunctionDef) and node.name == "forward" and "self" in script.text(node):
            start = script.span(node)[0]
            yield [Edit(start, start + len("def forward"), f"{MARK}def foward")]


@mutator("ERR002", "ERR003")
def width_that_does_not_fit(script: Script) -> Iterator[list[Edit]]:
    for call in script.calls("Sequential"):
        layers = [a for a in call.args if isinstance(a, ast.Call) and last_name(a.func) == "Linear"]
        if len(layers) >= 2 and isinstance(layers[1].args[0], ast.Constant):
            wider = str(layers[1].args[0].value + 1)  # type: ignore[operator]
            yield [script.mark(layers[0]), script.mark(layers[1]), script.replace(layers[1].args[0], MARK + wider)]


@mutator("ERR", "LOS")
def inputs_transposed(script: Script) -> Iterator[list[Edit]]:
    for training in script.trainings:
        if training.loss is None:
            continue
        for call in (n for n in ast.walk(training.loss) if isinstance(n, ast.Call)):
            if script.text(call.func) in ("model", "net") and len(call.args) == 1 and "[" in script.text(call.args[0]):
                yield [script.append(call.args[0], f"{MARK}.T")]


@mutator("ERR015")
def graph_used_twice(script: Script) -> Iterator[list[Edit]]:
    for training in script.trainings:
        if script.text(training.backward).endswith("loss.backward()"):
            yield [
                script.after(training.backward, MARK + script.text(training.backward)),
                script.mark(training.backward),
            ]


@mutator("WIR028")
def keys_that_do_not_match(script: Script) -> Iterator[list[Edit]]:
    for statement, name in _models(script):
        renamed = f'{{"module." + k: v.clone() for k, v in {name}.state_dict().items()}}'
        yield [script.after(statement, f"{MARK}{name}.load_state_dict({renamed}, strict=False)")]


@mutator("WIR029")
def best_state_by_reference(script: Script) -> Iterator[list[Edit]]:
    for statement, name in _models(script):
        loops = [s for s in script.tree.body if isinstance(s, ast.For) and s.lineno > statement.lineno]
        trained = [loop for loop in loops if any(t.loop and _holds(loop, t.loop) for t in script.trainings)]
        if trained:
            keep = f"\n    {MARK}kept_state = {name}.state_dict()"
            epochs = trained[0]
            first = epochs.body[0]
            kept = " " * first.col_offset + keep.strip() + "\n"
            start = script.span(first)[0] - first.col_offset
            load = f"{MARK}{name}.load_state_dict(kept_state)"
            yield [Edit(start, start, kept), script.after(epochs, load)]


def _holds(loop: ast.AST, inner: ast.AST) -> bool:
    return any(node is inner for node in ast.walk(loop))


def _models(script: Script) -> Iterator[tuple[ast.stmt, str]]:
    """Statements at the top that build a model of this name."""
    for statement in script.tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            name = script.text(statement.targets[0])
            if name in ("model", "net", "flow", "q"):
                yield statement, name
