"""Mutators of numbers: data, functions at their edge, rates."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bench.mutation.script import MARK, Edit, Script, last_name, mutator

_LOSSES = ("cross_entropy", "mse_loss", "binary_cross_entropy_with_logits", "smooth_l1_loss")


@mutator("NUM", "DAT", is_tuning=True)
def nan_in_data(script: Script) -> Iterator[list[Edit]]:
    for statement, name in _inputs(script):
        yield [script.after(statement, f'{MARK}{name}[:40, 0] = float("nan")')]


@mutator("NUM", "DAT")
def infinity_in_data(script: Script) -> Iterator[list[Edit]]:
    for statement, name in _inputs(script):
        yield [script.after(statement, f'{MARK}{name}[:40, 0] = float("inf")')]


@mutator("NUM004", "NUM005", "NUM003", "DAT")
def constant_column_standardised(script: Script) -> Iterator[list[Edit]]:
    for statement, name in _inputs(script):
        if name == "x":
            sick = f"{name}[:, 0] = 1.0\n{MARK}{name} = ({name} - {name}.mean(0)) / {name}.std(0)"
            yield [script.after(statement, sick)]


@mutator("DAT004")
def bytes_that_wrap(script: Script) -> Iterator[list[Edit]]:
    for call in script.calls("tensor"):
        if script.text(call) == "torch.tensor(d.data / 16.0, dtype=torch.float32)":
            pixels = "pixels = torch.tensor(d.data, dtype=torch.uint8)"
            wrapped = script.replace(call, f"{MARK}(pixels * 17).float() / 255")
            yield [script.before(script.statement(call), pixels), wrapped]


@mutator("DAT001", "DAT051", is_tuning=True)
def labels_in_order(script: Script) -> Iterator[list[Edit]]:
    for call in script.calls("split"):
        rows = call.func.value if isinstance(call.func, ast.Attribute) else None
        shuffled = isinstance(rows, ast.Subscript) and "randperm(" in script.text(rows.slice)
        if rows is not None and shuffled and "y[b]" in script.data.decode():
            whole = script.text(rows.value)  # type: ignore[attr-defined]
            yield [script.replace(rows.slice, f"{MARK}y[{whole}].argsort()")]  # type: ignore[attr-defined]


@mutator("DAT002", "DAT003", "DAT005")
def train_rows_as_test_rows(script: Script) -> Iterator[list[Edit]]:
    tails: dict[str, list[ast.Slice]] = {}
    heads: set[str] = set()
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Slice) and node.step is None:
            if node.upper is None and node.lower is not None and not _is_negative(node.lower):
                tails.setdefault(script.text(node.lower), []).append(node)
            elif node.lower is None and node.upper is not None:
                heads.add(script.text(node.upper))
    for bound, slices in tails.items():
        if bound in heads and (not bound.isdigit() or int(bound) > 50):
            yield [script.replace(node, f"{MARK}:{bound}") for node in slices]


@mutator("NUM")
def log_of_outputs(script: Script) -> Iterator[list[Edit]]:
    yield from _on_outputs(script, "torch.log({}.relu())")


@mutator("NUM")
def root_of_outputs(script: Script) -> Iterator[list[Edit]]:
    yield from _on_outputs(script, "(lambda out: (out * (out > 0)).sqrt())({})")


@mutator("NUM")
def quotient_of_outputs(script: Script) -> Iterator[list[Edit]]:
    yield from _on_outputs(script, "(lambda out: out / out.relu())({})")


@mutator("NUM")
def arc_cosine_of_outputs(script: Script) -> Iterator[list[Edit]]:
    yield from _on_outputs(script, "(lambda out: torch.acos(out / out.abs().max()))({})")


@mutator("NUM")
def exponential_of_outputs(script: Script) -> Iterator[list[Edit]]:
    yield from _on_outputs(script, "({} * 5000).exp()")


@mutator("NUM")
def epsilon_lost_in_half(script: Script) -> Iterator[list[Edit]]:
    yield from _on_outputs(script, "(1 / ({}.half().relu() + 1e-8)).float()")


@mutator("NUM")
def norm_of_zero_vector(script: Script) -> Iterator[list[Edit]]:
    for training in script.trainings:
        if training.loss is not None:
            name = script.text(training.backward).split(".")[0]
            parameter = "next(iter(model.parameters()))"
            if "model = " in script.data.decode() and name.endswith("loss"):
                yield [script.before(training.backward, f"{MARK}{name} = {name} + ({parameter} * 0).norm().sqrt()")]


@mutator("TRN", "NUM", is_tuning=True)
def rate_far_too_high(script: Script) -> Iterator[list[Edit]]:
    yield from _rates(script, 1000)


@mutator("TRN002", is_tuning=True)
def rate_far_too_low(script: Script) -> Iterator[list[Edit]]:
    yield from _rates(script, 1e-6)


@mutator("TRN003", is_tuning=True)
def units_born_dead(script: Script) -> Iterator[list[Edit]]:
    for optimizer in script.optimizers:
        if (
            script.text(optimizer.args[0]) != "model.parameters()"
            or "model = nn.Sequential(nn.Linear" not in script.data.decode()
        ):
            continue
        if "nn.ReLU()" in script.data.decode():
            kill = f"{MARK}nn.init.constant_(model[0].bias, -50.0)"
            yield [script.before(script.statement(optimizer), kill)]


# -- what the mutators look for ------------------------------------------------------------------------------------


def _is_negative(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp)


def _inputs(script: Script) -> Iterator[tuple[ast.stmt, str]]:
    """Statements at the top that make the matrix of inputs: `x = ...`, `x, y = ...`; the last one of a name counts."""
    found: dict[str, ast.stmt] = {}
    for statement in script.tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call | ast.BinOp | ast.Tuple):
            target = statement.targets[0]
            first = target.elts[0] if isinstance(target, ast.Tuple) else target
            if isinstance(first, ast.Name) and first.id in ("x", "view_a", "pts", "features"):
                found[first.id] = statement
    for name, statement in found.items():
        if "images" not in script.text(statement) and statement.lineno < _first_loop(script):
            yield statement, name


def _first_loop(script: Script) -> int:
    loops = [n.lineno for n in script.tree.body if isinstance(n, ast.For | ast.While)]
    return min(loops, default=10**6)


def _on_outputs(script: Script, form: str) -> Iterator[list[Edit]]:
    for call in script.losses(*_LOSSES):
        yield [script.replace(call.args[0], MARK + form.format(script.text(call.args[0])))]


def _rates(script: Script, factor: float) -> Iterator[list[Edit]]:
    for optimizer in script.optimizers:
        numbers = [
            k.value
            for k in optimizer.keywords
            if k.arg == "lr"
            and isinstance(k.value, ast.Constant)
            and isinstance(k.value.value, float)
            and k.value.value
        ]
        if numbers and last_name(optimizer.func) != "LBFGS":
            value = numbers[0]
            assert isinstance(value, ast.Constant)
            yield [script.mark(optimizer), script.replace(value, f"{MARK}{value.value * factor:g}")]
