"""Prediction and target of a loss that do not have the shapes it takes."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, ModuleFact, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules._code import receiver
from torchmedic.rules.errors._graphs import Graphs, graphs_behind, pooling
from torchmedic.rules.errors._mixing import Mixing, mixing, reshaped_batch
from torchmedic.rules.errors._reading import (
    also,
    crash_in,
    described,
    layer_name,
    quoted,
    said,
    shape,
    tensors,
    tensors_on_line,
    user_line,
)
from torchmedic.rules.errors._syntax import Code

_PATTERNS = (
    r"Using a target size \(torch\.Size\(\[[\d, ]*\]\)\) that is different to the input size",
    r"Target size \(torch\.Size\(\[[\d, ]*\]\)\) must be the same as input size",
    r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)",
    r"0D or 1D target tensor expected, multi-target not supported",
    r"only batches of spatial targets supported",
    r"Expected target size \[[\d, ]*\], got \[[\d, ]*\]",
    r"Expected input to have at least 1 dimension|expected target to have shape",
)
_LOSS = ("loss", "cross_entropy", "kl_div")


class LossShapeMismatch(Rule):
    """The shapes of prediction and target do not belong together."""

    code = "ERR027"
    name = "loss-shape-mismatch"
    symptoms = (Symptom.CRASH,)
    tell_apart = "a loss function compares the size of its input with that of its target"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        if crash is None or line is None or not (reshaped_batch(run, crash) or said(crash, *_PATTERNS)):
            return
        frames = [f for f in crash.frames if not f.is_user and any(w in f.location.function for w in _LOSS)]
        given = {n: v.tensor for f in frames for n in ("input", "target") if (v := f.value(n)) is not None}
        x, y = given.get("input"), given.get("target")
        mentioned = tensors_on_line(run, crash.user_frame)
        mixed = mixing(run, crash, x, y, [t for _, t in tensors(crash.user_frame)])
        if mixed is not None:
            yield self._mixed(line, mixed)
            return
        written = _arguments(Code.of(run), line)
        pred, target = _named(mentioned, x, written[0]), _named(mentioned[::-1], y, written[1])
        loss = frames[-1].location.function if frames else "the loss"
        graphs = graphs_behind(run, crash, x, y)
        if graphs is not None and x is not None and y is not None:
            yield self._unpooled(run, loss, graphs, line, x, y)
            return
        yield self.diagnose(
            headline=f"`{loss}` cannot compare {quoted(pred)} {shape(x.shape)} and {quoted(target)} {shape(y.shape)}"
            if x and y
            else f"`{loss}` cannot compare prediction and target",
            confidence="proven",
            where=line,
            culprit=Culprit(tensor=target, op=loss, phase="forward"),
            evidence=tuple(_evidence(mentioned, loss)),
            remedies=(_cure(run, loss, pred.removeprefix("the "), target.removeprefix("the "), x, y),),
        )

    def _unpooled(
        self, run: Run, loss: str, graphs: Graphs, line: Location, x: TensorSummary, y: TensorSummary
    ) -> Diagnosis:
        where = graphs.answered or line
        pool = pooling(run)
        return self.diagnose(
            headline=f"the prediction {shape(x.shape)} has a row per node, the target {shape(y.shape)} one per graph",
            confidence="proven",
            where=where,
            label="no pooling on the way here" if where is graphs.answered else "",
            also=also((line, f"compared by `{loss}` here"), but=where),
            culprit=Culprit(tensor=graphs.batch, op=loss, phase="forward"),
            evidence=(f"`{graphs.batch}` holds {y.shape[0]} graphs with {x.shape[0]} nodes",),
            remedies=(
                Remedy(
                    title=f"pool the nodes of each graph before the last layer: `h = {pool}(h, {graphs.index})`",
                    detail="" if "." in graphs.index else f"and hand `{graphs.batch}.batch` to `forward`",
                ),
            ),
        )

    def _mixed(self, line: Location, mixed: Mixing) -> Diagnosis:
        """The rows of the prediction are no longer the samples of the batch."""
        layer = layer_name(ModuleFact(type=mixed.layer.type, path=mixed.layer.path)) if mixed.layer is not None else ""
        where = mixed.where or line
        call = f"`{mixed.call}`" if mixed.call else "a reshape"
        return self.diagnose(
            headline=f"{call} makes {mixed.times} rows of each sample: {shape(mixed.before)} to {shape(mixed.after)}"
            if mixed.times
            else f"{call} makes {mixed.after[0]} rows of {mixed.before[0]} samples: each has {mixed.right} values, "
            f"not {mixed.width}",
            confidence="proven" if mixed.is_seen else "likely",
            where=where,
            mark=mixed.call if mixed.call and mixed.call in where.source else "",
            label="mixes the samples" if mixed.where is not None else "a row is no longer a sample here",
            also=also(
                (mixed.layer.location if mixed.layer is not None else None, f"`{layer}` takes {mixed.width}"),
                (line, "compared with one row per sample here"),
                but=where,
            ),
            culprit=Culprit(op="view", phase="forward", module=layer or None),
            evidence=(
                f"each of the {mixed.before[0]} samples has {mixed.right} values here, the reshape takes {mixed.width}",
            ),
            remedies=tuple(_unmixed(mixed, layer)),
        )


def _unmixed(mixed: Mixing, layer: str) -> Iterator[Remedy]:
    if mixed.keeps_steps:
        yield Remedy(title="leave one row of each sample before it, such as the last step `[:, -1]` or `mean(1)`")
        yield Remedy(title=f"or give the loss a target for each of the {mixed.before[1]} steps")
        yield Remedy(title=f"or flatten each sample by itself: `flatten(1)`, with `in_features={mixed.right}`")
        return
    yield Remedy(title="flatten each sample by itself: `flatten(1)`, which fails at once if a size is wrong")
    yield Remedy(title=f"and build `{layer or 'the layer after it'}` with `in_features={mixed.right}`")


def _arguments(code: Code, line: Location) -> tuple[str, str]:
    """Prediction and target as the call on a line writes them."""
    for node in (n for statement in code.statements(line) for n in ast.walk(statement)):
        if isinstance(node, ast.Call) and len(node.args) == 2:
            first, second = (ast.unparse(a) for a in node.args)
            return first[:40], second[:40]
    return "the prediction", "the target"


def _named(found: list[tuple[str, TensorSummary]], form: TensorSummary | None, otherwise: str) -> str:
    if form is None:
        return otherwise
    return next((n for n, t in found if (t.shape, t.dtype) == (form.shape, form.dtype)), otherwise)


def _evidence(mentioned: list[tuple[str, TensorSummary]], loss: str) -> Iterator[str]:
    if mentioned:
        yield described(mentioned)
    if loss in ("cross_entropy", "nll_loss"):
        yield f"`{loss}` takes scores [N, C, …] and class indices [N, …]"
    elif "binary" in loss:
        yield f"`{loss}` takes prediction and target of one and the same shape"


def _reshapes(run: Run) -> bool:
    texts = Code.of(run).texts.values()
    return not texts or any(re.search(r"\b(view|reshape|[Ff]latten|rearrange|unfold)\(", text) for text in texts)


def _cure(run: Run, loss: str, pred: str, target: str, x: TensorSummary | None, y: TensorSummary | None) -> Remedy:
    if x is None or y is None:
        return Remedy(title="make the shapes of prediction and target fit the loss")
    pred, target = receiver(pred), receiver(target)
    if loss in ("cross_entropy", "nll_loss"):
        if len(y.shape) == len(x.shape) and y.shape[-1:] == (1,):
            return Remedy(title=f"drop the last dimension of the target: `{target}.squeeze(-1)`")
        if len(y.shape) > 1 and x.shape[:1] == (math.prod(y.shape),):
            return Remedy(title=f"flatten the target as well: `{target}.flatten()`")
        if y.shape == x.shape or (len(y.shape) == 2 and len(x.shape) == 2):
            return Remedy(
                title=f"turn one-hot rows into class indices: `{target}.argmax(1)`",
                detail="or convert the target to float to use it as probabilities",
            )
        if len(x.shape) == 3 and len(y.shape) == 2:
            return Remedy(
                title=f"put the classes in dimension 1: `{pred}.transpose(1, 2)`, or flatten both: "
                f"`{pred}.flatten(0, 1), {target}.flatten()`"
            )
        if x.shape[:1] != y.shape[:1]:
            if not _reshapes(run):
                return Remedy(title=f"give the prediction one row per target: it has {x.shape[0]} for {y.shape[0]}")
            return Remedy(title="keep the batch dimension on the way: a `view(-1, …)` before has mixed it with others")
    if len(x.shape) == len(y.shape) + 1 and x.shape[-1:] == (1,):
        return Remedy(title=f"drop the last dimension: `{pred}.squeeze(-1)`")
    if len(y.shape) == len(x.shape) + 1 and y.shape[-1:] == (1,):
        return Remedy(title=f"drop the last dimension of the target: `{target}.squeeze(-1)`")
    return Remedy(title=f"give `{target}` the shape {shape(x.shape)} of the prediction")
