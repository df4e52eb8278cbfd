"""Edges of a graph that name nodes beyond the rows of its features."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._following import passed_as
from torchmedic.rules.errors._reading import also, crash_in, said, tensors, user_line
from torchmedic.rules.errors._syntax import Assignment, Code, dotted, dotted_names

_MESSAGE = r"indices in '(edge_index|\w+)' that are larger than (\d+) \(got (-?\d+)\)"
# What a layer that adds up degrees says before any check of its own.
_IN_SCATTER = r"index \d+ is out of bounds for dimension 0 with size (\d+)"

_RENUMBER = (
    Remedy(title="number the nodes anew after filtering: `new = {old: i for i, old in enumerate(ids)}`"),
    Remedy(title="or keep all rows, and leave nodes out by a mask"),
)
_SUBGRAPH = Remedy(
    title="filter and number anew in one: `torch_geometric.utils.subgraph(keep, edge_index, relabel_nodes=True)`"
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
        code = Code.of(run)
        pooled = _pooled(code, crash, line, largest + 1, got) if crash is not None else None
        if pooled is not None:
            yield self._too_few_rows(*pooled, line, refused)
            return
        smallest = _smallest(crash, name) if crash is not None else None
        from_one = got == largest + 1 and smallest == 1
        filtered = _filtered(code, name) if not from_one else None
        made = filtered or _made(code, name)
        where = made or line
        yield self.diagnose(
            headline=f"`{name}` names node {got}, and there are {largest + 1} nodes (0 to {largest})",
            confidence="proven",
            where=where,
            label="edges are left out here, and the others keep their old numbers"
            if filtered is not None
            else f"ids up to {got} go in here"
            if made is not None
            else "",
            also=also((line, "the layer refuses them here"), but=where),
            culprit=Culprit(tensor=name, index=(got,), phase="data"),
            evidence=(
                f"row i of the features is node i: with {largest + 1} rows the ids have to run from 0 to {largest}",
                f"the ids run from 1 to {got}: they are counted from 1"
                if from_one
                else "ids from a table keep their old numbers when rows are filtered out of it",
            ),
            remedies=(Remedy(title=f"count the nodes from 0: `{name} - 1`"),)
            if from_one
            else (_SUBGRAPH, *_RENUMBER[1:])
            if filtered is not None
            else _RENUMBER,
        )

    def _too_few_rows(self, features: Assignment, what: str, line: Location, edges: tuple[str, int, int]) -> Diagnosis:
        """The edges are right, but the features have been drawn together: there is no row per node any more."""
        name, largest, got = edges
        rows = largest + 1
        call = dotted(features.value.func) if isinstance(features.value, ast.Call) else ""
        return self.diagnose(
            headline=f"`{what}` has {rows} rows after `{call}`, and `{name}` names nodes up to {got}",
            confidence="proven",
            where=features.location,
            label=f"leaves {rows} rows, one per graph and not per node",
            also=also((line, "the layer needs a row per node here"), but=features.location),
            culprit=Culprit(tensor=what, op=call, index=(got,), phase="forward"),
            evidence=(f"other tensors of this `forward` still have a row for each node: `{name}` is as it should be",),
            remedies=(
                Remedy(title="keep the rows of the nodes under a name of their own, and give those to the next layer"),
                Remedy(title="pool once, behind the last layer that takes edges"),
            ),
        )


def _pooled(code: Code, crash: Crash, line: Location, rows: int, got: int) -> tuple[Assignment, str] | None:
    """What made the features too few, where the frame still holds rows for all nodes."""
    frame = crash.user_frame
    held = dict(tensors(frame)) if frame is not None else {}
    call = next((n for s in code.statements(line) for n in ast.walk(s) if isinstance(n, ast.Call) and n.args), None)
    name = dotted(call.args[0]) if call is not None else ""
    given = held.get(name)
    bound = code.last_assignment(name, line) if given is not None and given.shape[:1] == (rows,) else None
    if bound is None or bound.how != "assign" or not isinstance(bound.value, ast.Call):
        return None
    # Of what the call was given, something has a row per node: the call itself made fewer of them.
    taken = [held[word] for word in dotted_names([bound.value]) if word in held and "edge" not in word]
    return (bound, name) if any(t.shape and t.shape[0] > got for t in taken) else None


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


def _filtered(code: Code, name: str) -> Location | None:
    """The one line that takes some columns of the edges by a mask, where rows of the features are left out too."""
    found = {
        (file, node.lineno): code.place(file, node)
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and dotted(node.value).rpartition(".")[2] == name
        if isinstance(node.slice, ast.Tuple) and isinstance(node.slice.elts[-1], (ast.Name, ast.Compare))
    }
    rows_left_out = any(
        isinstance(node, ast.Subscript) and dotted(node.value).rpartition(".")[2] == "x" and _is_mask(node.slice)
        for tree in code.trees.values()
        for node in ast.walk(tree)
    )
    return next(iter(found.values())) if len(found) == 1 and rows_left_out else None


def _is_mask(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Compare, ast.Attribute))


def _given_to_data(code: Code, name: str) -> Iterator[tuple[Location, ast.expr]]:
    for _, call in code.calls("Data"):
        for keyword in call.keywords:
            if keyword.arg == name:
                file = next(f for f, tree in code.trees.items() if any(n is call for n in ast.walk(tree)))
                yield code.place(file, keyword.value), keyword.value
