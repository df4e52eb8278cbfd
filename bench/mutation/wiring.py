"""Mutators of the wiring: gradients, optimizers, modes, schedulers, checkpoints."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bench.mutation.script import MARK, Edit, Script, Training, called, last_name, mutator

_LAYERS = ("Linear", "Sequential", "Conv2d", "Embedding", "LSTM", "BatchNorm1d")


@mutator("WIR014")
def zero_grad_dropped(script: Script) -> Iterator[list[Edit]]:
    for training in script.trainings:
        clear = training.call("zero_grad")
        if clear is not None and script.stands_alone(clear):
            yield [script.delete(clear), *_step_lines(script, training)]


@mutator("WIR015")
def zero_grad_before_step(script: Script) -> Iterator[list[Edit]]:
    for training in script.trainings:
        clear, step = training.call("zero_grad"), training.call("step")
        if clear is not None and step is not None and script.stands_alone(clear):
            yield [script.delete(clear), script.before(step, MARK + script.text(clear)), script.mark(step)]


@mutator("WIR016")
def step_dropped(script: Script) -> Iterator[list[Edit]]:
    for training in script.trainings:
        step = training.call("step")
        if step is not None and script.stands_alone(step):
            rest = [s for s in (training.call("zero_grad"), training.loop) if s is not None]
            built = script.optimizers[:1]
            yield [script.delete(step), *(script.mark(n) for n in (training.backward, *rest, *built))]


@mutator("WIR001", "ERR058")
def layers_in_plain_list(script: Script) -> Iterator[list[Edit]]:
    for call in script.calls("ModuleList"):
        yield [script.replace(call.func, MARK + "list")]


@mutator("WIR001")
def layers_in_plain_dict(script: Script) -> Iterator[list[Edit]]:
    for call in script.calls("ModuleDict"):
        yield [script.replace(call.func, MARK + "dict")]


@mutator("WIR001", "ERR058")
def layer_hidden_in_list(script: Script) -> Iterator[list[Edit]]:
    for attribute, call in _hung_layers(script):
        uses = [n for n in script.calls(attribute) if script.text(n.func) == f"self.{attribute}"]
        others = script.data.decode().count(f".{attribute}") - len(uses) - 1
        if uses and not others:
            yield [
                script.replace(call, f"{MARK}[{script.text(call)}]"),
                *(script.append(use.func, "[0]") for use in uses),
            ]


@mutator("WIR004")
def model_rebuilt_after_optimizer(script: Script) -> Iterator[list[Edit]]:
    for optimizer in script.optimizers:
        built = script.statement(optimizer)
        for name in _names(optimizer):
            made = _construction(script, name, built)
            if made is not None and made in _siblings(script, built):
                yield [script.mark(built), script.after(built, MARK + script.text(made))]


@mutator("WIR005", "WIR013", "ERR058", is_tuning=True)
def layer_left_out_of_optimizer(script: Script) -> Iterator[list[Edit]]:
    for optimizer in script.optimizers:
        given = optimizer.args[0]
        if isinstance(given, ast.Call) and last_name(given.func) == "parameters":
            yield [script.replace(given, f"{MARK}list({script.text(given)})[2:]")]


@mutator("WIR013", "ERR014", is_tuning=True)
def last_layer_frozen(script: Script) -> Iterator[list[Edit]]:
    for optimizer in script.optimizers:
        given = optimizer.args[0]
        if isinstance(given, ast.Call) and last_name(given.func) == "parameters":
            freeze = f"for p in list({script.text(given)})[-2:]:\n    {MARK}p.requires_grad_(False)"
            yield [script.before(script.statement(optimizer), freeze), script.mark(optimizer)]


@mutator("WIR006")
def features_detached(script: Script) -> Iterator[list[Edit]]:
    yield from _after_features(script, "{}.detach()")


@mutator("WIR006", "WIR007")
def features_through_data(script: Script) -> Iterator[list[Edit]]:
    yield from _after_features(script, "{}.data")


@mutator("WIR007", "ERR017", "WIR006")
def features_made_anew(script: Script) -> Iterator[list[Edit]]:
    yield from _after_features(script, "torch.tensor({}.tolist())")


@mutator("WIR009")
def features_rounded(script: Script) -> Iterator[list[Edit]]:
    yield from _after_features(script, "{}.round()")


@mutator("WIR008")
def features_without_gradient(script: Script) -> Iterator[list[Edit]]:
    for statement in _feature_statements(script):
        if script.stands_alone(statement):
            yield [Edit(*script.span(statement), f"{MARK}with torch.no_grad(): {MARK}{script.text(statement)}")]


@mutator("WIR007", "WIR006")
def loss_made_anew(script: Script) -> Iterator[list[Edit]]:
    for training, name in _losses(script):
        renewed = f"{MARK}{name} = torch.tensor({name}.item(), requires_grad=True)"
        yield [script.before(training.backward, renewed)]


@mutator("ERR014", "WIR006")
def loss_detached(script: Script) -> Iterator[list[Edit]]:
    for training, name in _losses(script):
        yield [script.before(training.backward, f"{MARK}{name} = {name}.detach()")]


@mutator("WIR021")
def train_mode_never_restored(script: Script) -> Iterator[list[Edit]]:
    switched = [s for _, body in script.lists_of_statements() for s in body if called(s) == "train"]
    for statement in switched:
        model = script.text(statement).partition(".")[0]
        back = [c for c in script.calls("eval") if script.text(c.func) == f"{model}.eval"]
        if back and script.stands_alone(statement):
            loops = [n for n in ast.walk(script.tree) if isinstance(n, ast.For) and statement in n.body]
            yield [script.delete(statement), *(script.mark(n) for n in (*back, *loops))]


@mutator("WIR021")
def eval_mode_from_the_start(script: Script) -> Iterator[list[Edit]]:
    for _, body in script.lists_of_statements():
        for statement in body:
            text = script.text(statement)
            is_model = called(statement) == "train" and text.endswith(".train()") and "trainer" not in text
            if is_model and statement.col_offset:
                yield [script.replace(statement, MARK + script.text(statement).replace(".train()", ".eval()"))]


@mutator("WIR034")
def eval_mode_dropped(script: Script) -> Iterator[list[Edit]]:
    for _, body in script.lists_of_statements():
        for at, statement in enumerate(body[:-1]):
            if called(statement) == "eval" and script.stands_alone(statement):
                yield [script.delete(statement), *_lines_of(script, body[at + 1])]


@mutator("WIR022")
def dropout_without_mode(script: Script) -> Iterator[list[Edit]]:
    if not any(script.calls("eval")) or "import torch.nn.functional as F" not in script.data.decode():
        return
    for statement in _feature_statements(script):
        yield [script.replace(statement.value, f"{MARK}F.dropout({script.text(statement.value)}, 0.3)")]


@mutator("WIR023", "TRN073", is_tuning=True)
def scheduler_per_batch(script: Script) -> Iterator[list[Edit]]:
    for step, training in _scheduler_steps(script):
        update = training.call("step")
        if step not in training.body and update is not None and script.stands_alone(step):
            yield [script.delete(step), script.after(update, MARK + script.text(step)), *_built(script, step)]


@mutator("WIR026", is_tuning=True)
def scheduler_never_stepped(script: Script) -> Iterator[list[Edit]]:
    for step, _ in _scheduler_steps(script):
        if script.stands_alone(step):
            yield [script.delete(step), *_built(script, step)]


@mutator("WIR024", is_tuning=True)
def scheduler_per_epoch(script: Script) -> Iterator[list[Edit]]:
    for step, training in _scheduler_steps(script):
        if step in training.body and training.loop is not None and script.stands_alone(step):
            yield [script.delete(step), script.after(training.loop, MARK + script.text(step)), *_built(script, step)]


@mutator("TRN073")
def rate_of_zero(script: Script) -> Iterator[list[Edit]]:
    for optimizer in script.optimizers:
        for keyword in optimizer.keywords:
            if keyword.arg == "lr" and isinstance(keyword.value, ast.Constant) and keyword.value.value:
                yield [script.replace(keyword.value, "0.0"), script.mark(optimizer), script.mark(keyword)]


@mutator("WIR018")
def clipped_before_unscaling(script: Script) -> Iterator[list[Edit]]:
    for training in script.trainings:
        if "scale(" in script.text(training.backward):
            clip = f"{MARK}torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
            yield [script.after(training.backward, clip)]


# -- what the mutators look for ------------------------------------------------------------------------------------


def _step_lines(script: Script, training: Training) -> list[Edit]:
    nodes = [training.backward, training.call("step"), training.loop]
    return [script.mark(n) for n in nodes if n is not None]


def _lines_of(script: Script, statement: ast.stmt) -> list[Edit]:
    """A mark on every line of a statement that is short, on its first otherwise."""
    inner = [n for n in ast.walk(statement) if isinstance(n, ast.stmt)]
    return [script.mark(n) for n in inner]


def _losses(script: Script) -> Iterator[tuple[Training, str]]:
    for training in script.trainings:
        if training.loss is not None and script.text(training.backward).split(".")[0].endswith("loss"):
            yield training, script.text(training.backward).split(".")[0]


def _names(optimizer: ast.Call) -> list[str]:
    return sorted({n.id for n in ast.walk(optimizer.args[0]) if isinstance(n, ast.Name)})


def _siblings(script: Script, statement: ast.stmt) -> list[ast.stmt]:
    return next(body for _, body in script.lists_of_statements() if statement in body)


def _construction(script: Script, name: str, before: ast.stmt) -> ast.Assign | None:
    """The statement that builds the module of this name: a call, and the only assignment before the optimizer."""
    made = [
        s
        for s in _siblings(script, before)
        if isinstance(s, ast.Assign) and script.text(s.targets[0]) == name and s.lineno < before.lineno
    ]
    one = len(made) == 1 and isinstance(made[0].value, ast.Call) and "parameters" not in script.text(made[0])
    return made[0] if one else None


def _hung_layers(script: Script) -> Iterator[tuple[str, ast.Call]]:
    for call in script.calls(*_LAYERS):
        statement = script.parents[call]
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
            yield statement.targets[0].attr, call


def _feature_statements(script: Script) -> Iterator[ast.Assign]:
    """In a `forward`: assignments of what a layer puts out, `h = self.layer(x)`."""
    for function in ast.walk(script.tree):
        if isinstance(function, ast.FunctionDef) and function.name in ("forward", "log_prob"):
            for statement in function.body:
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                    value = statement.value
                    if isinstance(value, ast.Call) and script.text(value.func).startswith("self."):
                        yield statement


def _after_features(script: Script, form: str) -> Iterator[list[Edit]]:
    """Wrap what an inner layer hands to the next one."""
    for statement in _feature_statements(script):
        yield [script.replace(statement.value, MARK + form.format(script.text(statement.value)))]
    for function in ast.walk(script.tree):
        if isinstance(function, ast.FunctionDef) and function.name == "forward":
            for call in (n for n in ast.walk(function) if isinstance(n, ast.Call)):
                inner = call.args[0] if len(call.args) == 1 else None
                nested = isinstance(inner, ast.Call) and script.text(inner.func).startswith("self.")
                if inner is not None and nested and script.text(call.func).startswith("self."):
                    yield [script.replace(inner, MARK + form.format(script.text(inner)))]


def _scheduler_steps(script: Script) -> Iterator[tuple[ast.Expr, Training]]:
    """Statements `sched.step()` beside or behind a training step, with that step."""
    for training in script.trainings:
        for _, body in script.lists_of_statements():
            for statement in body:
                if called(statement) == "step" and "sched" in script.text(statement).partition(".")[0]:
                    assert isinstance(statement, ast.Expr)
                    if body is training.body or training.loop in body:
                        yield statement, training


def _built(script: Script, step: ast.Expr) -> list[Edit]:
    """A mark where the scheduler of a `sched.step()` is built."""
    name = script.text(step).partition(".")[0]
    return [
        script.mark(node)
        for node in ast.walk(script.tree)
        if isinstance(node, ast.Assign)
        and script.text(node.targets[0]).split(", ")[-1] == name
        and isinstance(node.value, ast.Call)
    ]
