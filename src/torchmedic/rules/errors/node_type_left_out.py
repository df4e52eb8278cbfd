"""A type of node that a layer of a heterogeneous graph drops, and the next layer needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, NodeTypeLeftOut, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, user_line
from torchmedic.rules.errors._syntax import Code


class NodeTypeLeftOutRule(Rule):
    """`HeteroConv` hands out only types of nodes that an edge leads to."""

    code = "ERR281"
    name = "node-type-left-out"
    symptoms = (Symptom.CRASH,)
    tell_apart = "an inner layer of `HeteroConv` is given None for a type of node"
    needs = (Crash, NodeTypeLeftOut)
    folds = ("none-result",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash, seen = crash_in(run), run.last(NodeTypeLeftOut)
        line = user_line(crash) if crash is not None else None
        if crash is None or seen is None or line is None:
            return
        dropping = _dropping(Code.of(run), seen.node_type)
        where = dropping or line
        edge = f"({', '.join(map(repr, seen.edge_type))})"
        source, target = seen.edge_type[0], seen.edge_type[-1]
        yield self.diagnose(
            headline=f"nodes of type `{seen.node_type}` are missing from what this layer is given",
            confidence="proven",
            where=where,
            label=f"no edge type here leads to `{seen.node_type}`: it is not handed out"
            if dropping is not None
            else "",
            also=also((line, f"needed here for the edges {edge}"), but=where),
            culprit=Culprit(module="HeteroConv", field=seen.node_type, phase="forward"),
            evidence=(
                f"the layer is given the types {', '.join(f'`{kind}`' for kind in seen.given)}",
                "`HeteroConv` updates, and hands out, only types of nodes that some edge type ends in",
            ),
            remedies=(
                Remedy(
                    title=f"add edges that lead to `{seen.node_type}`: `T.ToUndirected()` on the graph",
                    detail=f"and a layer for `('{target}', 'rev_{seen.edge_type[1]}', '{source}')`",
                ),
                Remedy(title=f"or carry it on by hand: `out['{seen.node_type}'] = x['{seen.node_type}']`"),
            ),
        )


def _dropping(code: Code, kind: str) -> Location | None:
    """The first `HeteroConv` of the user's whose edge types are spelt out, and none of which ends in this type."""
    for place, call in code.calls("HeteroConv"):
        keys = call.args[0].keys if call.args and isinstance(call.args[0], ast.Dict) else []
        ends = [key.elts[-1] for key in keys if isinstance(key, ast.Tuple) and key.elts]
        if ends and len(ends) == len(keys) and all(isinstance(e, ast.Constant) and e.value != kind for e in ends):
            return place
    return None
