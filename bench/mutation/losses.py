"""Mutators of the loss: what it is given, what it is compared with, what is kept of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bench.mutation.script import MARK, Edit, Script, last_name, mutator


@mutator("LOS001", is_tuning=True)
def softmax_before_cross_entropy(script: Script) -> Iterator[list[Edit]]:
    for call in script.losses("cross_entropy"):
        yield [script.append(call.args[0], f"{MARK}.softmax(-1)")]


@mutator("LOS002", is_tuning=True)
def sigmoid_before_logits_loss(script: Script) -> Iterator[list[Edit]]:
    for call in script.losses("binary_cross_entropy_with_logits"):
        yield [script.append(call.args[0], f"{MARK}.sigmoid()")]


@mutator("LOS003")
def probabilities_into_nll(script: Script) -> Iterator[list[Edit]]:
    for call in _plain_cross_entropy(script):
        yield [script.replace(call.func, f"{MARK}F.nll_loss"), script.append(call.args[0], ".softmax(-1)")]


@mutator("LOS004", "NUM", "TRN001")
def scores_into_nll(script: Script) -> Iterator[list[Edit]]:
    for call in _plain_cross_entropy(script):
        yield [script.replace(call.func, f"{MARK}F.nll_loss")]


@mutator("LOS007", is_tuning=True)
def softmax_over_batch(script: Script) -> Iterator[list[Edit]]:
    for call in _plain_cross_entropy(script):
        yield [script.replace(call.func, f"{MARK}F.nll_loss"), script.append(call.args[0], ".log_softmax(0)")]


@mutator("LOS009", "ERR027", is_tuning=True)
def prediction_not_squeezed(script: Script) -> Iterator[list[Edit]]:
    for call in script.losses("mse_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits"):
        given = call.args[0]
        if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "squeeze":
            yield [script.replace(given, MARK + script.text(given.func.value))]


@mutator("LOS009", "ERR027", is_tuning=True)
def target_unsqueezed(script: Script) -> Iterator[list[Edit]]:
    for call in script.losses("mse_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits"):
        if ".squeeze(" in script.text(call.args[0]):
            yield [script.append(call.args[1], f"{MARK}.unsqueeze(1)")]


@mutator("ERR008")
def target_as_float(script: Script) -> Iterator[list[Edit]]:
    for call in script.losses("cross_entropy"):
        yield [script.append(call.args[1], f"{MARK}.float()")]


@mutator("LOS031", "ERR008")
def target_as_integer(script: Script) -> Iterator[list[Edit]]:
    for call in script.losses("mse_loss"):
        yield [script.append(call.args[1], f"{MARK}.long()")]


@mutator("ERR019")
def labels_off_by_one(script: Script) -> Iterator[list[Edit]]:
    for call in script.losses("cross_entropy"):
        yield [script.append(call.args[1], f"{MARK} + 1")]


@mutator("LOS030", is_tuning=True)
def labels_shuffled_apart(script: Script) -> Iterator[list[Edit]]:
    for call in script.losses("cross_entropy", "mse_loss", "binary_cross_entropy_with_logits"):
        target = script.text(call.args[1])
        yield [script.replace(call.args[1], f"{MARK}({target})[torch.randperm(len({target}))]")]


@mutator("LOS017")
def constant_target(script: Script) -> Iterator[list[Edit]]:
    for call in script.losses("cross_entropy", "mse_loss", "binary_cross_entropy_with_logits"):
        target = call.args[1]
        if isinstance(target, ast.Subscript) and script.text(target.value) == "y":
            made = [
                s
                for s in script.tree.body
                if isinstance(s, ast.Assign) and "y" in script.text(s.targets[0]).split(", ")
            ]
            if made and made[-1].lineno < call.lineno:
                yield [script.after(made[-1], f"{MARK}y = torch.zeros_like(y)"), script.mark(call)]


@mutator("DAT050", "LOS032")
def loss_blind_to_input(script: Script) -> Iterator[list[Edit]]:
    for call in script.losses("cross_entropy", "mse_loss", "binary_cross_entropy_with_logits"):
        model = next(
            (n for n in ast.walk(call.args[0]) if isinstance(n, ast.Call) and last_name(n.func) == "model"), None
        )
        if model is not None and len(model.args) == 1 and script.text(model.args[0]).startswith("x"):
            yield [script.replace(model.args[0], f"{MARK}torch.zeros_like({script.text(model.args[0])})")]


@mutator("MEM002", "MEM001")
def sum_with_graph(script: Script) -> Iterator[list[Edit]]:
    for training in script.trainings:
        for statement in training.body:
            if isinstance(statement, ast.AugAssign) and ".item()" in script.text(statement):
                yield [script.replace(statement, MARK + script.text(statement).replace(".item()", ""))]


@mutator("MEM001")
def losses_kept_with_graph(script: Script) -> Iterator[list[Edit]]:
    for training in script.trainings:
        for statement in training.body:
            text = script.text(statement)
            if ".append(" in text and text.endswith(".item())"):
                yield [script.replace(statement, MARK + text.replace(".item())", ")"))]


def _plain_cross_entropy(script: Script) -> Iterator[ast.Call]:
    """Calls with nothing but scores and labels, which `nll_loss` takes too."""
    for call in script.losses("cross_entropy"):
        if len(call.args) == 2 and not call.keywords:
            yield call
