"""Edges of a graph that name nodes beyond the rows of its features."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._following import passed_as
from torchmedic.rules.errors._reading import also, crash_in, said, tensors, user_line
from torchmedic.rules.errors._syntax import Code

_MESSAGE = r"indices in '(edge_index|\w+)' that are larger than (\d+) \(got (-?\d+)\)"
# What a layer that adds up degrees says before any check of its own.
_IN_SCATTER = r"index \d+ is out of bounds for dimension 0 with size (\d+)"

_RENUMBER = (
    Remedy(title="number the nodes anew after filtering: `new = {old: i for i, old in enumerate(ids)}`"),
    Remedy(title="or keep all rows, and leave nodes out by a mask"),
)


class EdgeBeyondNodes(Rule):
    """A message-passing layer refuses an `edge_index` that does not fit `x`."""

    code = "ERR065"
    name = "edge-beyond-nodes"
    symptoms = (Symptom.CRASH,)
    tell_apart = "PyG says that indices in `edge_index` are larger than the number of nodes allows"
    needs = (Crash,)
    folds = ("index-on-wrong-axis",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        refused = _refused(crash) if crash is not None else None
        line = user_line(crash) if crash is not None else None
        if refused is None or line is None:
            return
        name, largest, got = refused
        smallest = _smallest(crash, name) if crash is not None else None
        from_one = got == largest + 1 and smallest == 1
        made = _made(Code.of(run), name)
        where = made or line
        yield self.diagnose(
            headline=f"`{name}` names node {got}, and there are {largest + 1} nodes (0 to {largest})",
            confidence="proven",
            where=where,
            label=f"ids up to {got} go in here" if made is not None else "",
            also=also((line, "the layer refuses them here"), but=where),
            culprit=Culprit(tensor=name, index=(got,), phase="data"),
            evidence=(
                f"row i of the features is node i: with {largest + 1} rows the ids have to run from 0 to {largest}",
                f"the ids run from 1 to {got}: they are counted from 1"
                if from_one
                else "ids from a table keep their old numbers when rows are filtered out of it",
            ),
            remedies=(Remedy(title=f"count the nodes from 0: `{name} - 1`"),) if from_one else _RENUMBER,
        )


def _refused(crash: Crash) -> tuple[str, int, int] | None:
    """The name of the edges, the largest id that fits, and one that does not."""
    match = said(crash, _MESSAGE)
    if match is not None:
        return match[1], int(match[2]), int(match[3])
    match = said(crash, _IN_SCATTER)
    inside = [frame for frame in crash.frames if "torch_geometric" in frame.location.file]
    held = [frame.value("edge_index") for frame in inside]
    largest = max((v.tensor.maximum or 0 for v in held if v is not None and v.tensor is not None), default=0)
    if match is None or largest < int(match[1]):
        return None
    return "edge_index", int(match[1]) - 1, int(largest)


def _smallest(crash: Crash, name: str) -> float | None:
    """The smallest id among the edges, in the user's frames: a layer may add a loop at each node to its own."""
    lows = [
        tensor.minimum
        for frame in crash.frames
        for held, tensor in tensors(frame)
        if re.split(r"\W+", held.strip("'[]"))[-1] == name and tensor.minimum is not None
    ]
    return lows[0] if lows else None


def _made(code: Code, name: str) -> Location | None:
    """The one line that makes the edges, followed from what is given to `Data` under their name."""
    lines: dict[tuple[str, int], Location] = {}
    for file, tree in code.trees.items():
        for node in ast.walk(tree):
            targets = node.targets if isinstance(node, ast.Assign) else []
            if any(isinstance(t, ast.Name) and t.id == name for t in targets) and isinstance(node, ast.Assign):
                place = code.place(file, node)
                if any(isinstance(n, ast.Call) for n in ast.walk(node.value)):
                    lines[place.file, place.line] = place
    if not lines:
        given = [*passed_as(code, name), *_given_to_data(code, name)]
        lines = {(place.file, place.line): place for place, _ in given}
    return next(iter(lines.values())) if len(lines) == 1 else None


def _given_to_data(code: Code, name: str) -> Iterator[tuple[Location, ast.expr]]:
    for _, call in code.calls("Data"):
        for keyword in call.keywords:
            if keyword.arg == name:
                file = next(f for f, tree in code.trees.items() if any(n is call for n in ast.walk(tree)))
                yield code.place(file, keyword.value), keyword.value
