"""Knows a batch of graphs among the variables of a crash, and the line of the model that answers for it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from torchmedic.facts import Crash, Location, ModelAtCrash, Run, TensorSummary
from torchmedic.rules.errors._reading import short_type
from torchmedic.rules.errors._syntax import Code, dotted


@dataclass(frozen=True)
class Graphs:
    """A batch of graphs: its name, what its model calls the number of each node's graph, and where that answers."""

    batch: str
    index: str = "batch"
    answered: Location | None = None


def graphs_behind(run: Run, crash: Crash, x: TensorSummary | None, y: TensorSummary | None) -> Graphs | None:
    """The batch whose nodes are the rows of a prediction and whose graphs are those of the target."""
    if x is None or y is None or not x.shape or not y.shape or x.shape[0] == y.shape[0]:
        return None
    for value in (v for f in crash.frames if f.is_user for v in f.values):
        held = {item.name: item.tensor for item in value.items if item.tensor is not None}
        nodes, ends = held.get("batch"), held.get("ptr")
        if nodes is not None and ends is not None and (nodes.shape, ends.shape) == (x.shape[:1], (y.shape[0] + 1,)):
            return _answering(run, value.name, crash)
    return None


def _answering(run: Run, batch: str, crash: Crash) -> Graphs:
    """The last `return` of the one model that the failing line, or the line before it, calls with the batch."""
    code = Code.of(run)
    kinds = {m.name: short_type(m.type) for m in run.all(ModelAtCrash)}
    line = crash.user_frame.location if crash.user_frame is not None else None
    called = [
        kinds[name]
        for place, call in code.calls(*kinds)
        if line is not None and place.file == line.file and line.line - 6 <= place.line <= line.line
        if (name := dotted(call.func)) in kinds and any(batch == dotted(a).partition(".")[0] for a in call.args)
    ]
    found = code.function("forward", called[0]) if len(set(called)) == 1 else None
    if found is None:
        return Graphs(batch, f"{batch}.batch")
    file, forward = found
    taken = [a.arg for a in forward.args.args if a.arg != "self"]
    index = f"{taken[0]}.batch" if len(taken) == 1 else "batch"
    returns = [n for n in ast.walk(forward) if isinstance(n, ast.Return)]
    return Graphs(batch, index, code.place(file, returns[-1]) if len(returns) == 1 else None)


def pooling(run: Run) -> str:
    """The pooling that the script has imported already, else the mean."""
    texts = Code.of(run).texts.values()
    found = (m for text in texts if (m := re.search(r"\bglobal_(?:add|mean|max)_pool\b", text)) is not None)
    return next((m[0] for m in found), "global_mean_pool")
