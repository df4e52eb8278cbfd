"""A tensor used as a weight that hangs on a module as a plain attribute: no optimizer ever gets it."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import OptimizerSeen, Run, StrayLeaf
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, listed, short


class UnregisteredTensor(Rule):
    """A leaf tensor, or a parameter in a plain container, that the gradient reaches and nothing updates."""

    code = "WIR002"
    name = "unregistered-tensor"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.SCORE_LOW, Symptom.CHECKPOINT_DIFFERS)
    tell_apart = "the weight is a tensor attribute, a list of them, or a result computed once from a parameter"
    needs = (StrayLeaf, OptimizerSeen)
    folds = ("TRN", "stale-graph")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        stray = [leaf for leaf in run.all(StrayLeaf) if leaf.place == "hung" and not leaf.layer and leaf.steps >= 2]
        for owner, attribute in dict.fromkeys((leaf.owner, leaf.attribute) for leaf in stray):
            leaves = [leaf for leaf in stray if (leaf.owner, leaf.attribute) == (owner, attribute)]
            yield self._one(leaves, run.first(OptimizerSeen))

    def _one(self, leaves: list[StrayLeaf], optimizer: OptimizerSeen | None) -> Diagnosis:
        leaf = leaves[0]
        holder = f"self.{leaf.attribute}"
        return self.diagnose(
            headline=f"`{short(holder)}` of `{short(leaf.owner, 20)}` {_what(leaf)} and is never trained",
            confidence="proven",
            where=leaf.hung or leaf.born,
            label="not registered: only an `nn.Parameter` set as an attribute is",
            also=also((optimizer.built if optimizer else None, "this optimizer never saw it"), where=leaf.hung),
            culprit=Culprit(parameter=leaf.attribute, tensor=leaf.attribute, module=leaf.owner, phase="setup"),
            evidence=(
                f"{listed(item.name for item in leaves)} with `requires_grad` got a gradient in every step looked at, "
                "in no optimizer, values unchanged",
                f"`parameters()` and `state_dict()` of `{leaf.owner}` do not list it",
            ),
            remedies=_cures(leaf, holder),
        )


def _what(leaf: StrayLeaf) -> str:
    if leaf.behind:
        return "is a result, not a leaf parameter,"
    if leaf.container in ("list", "tuple", "dict"):
        return f"is a plain {leaf.container} of weights"
    return "is a plain tensor"


def _cures(leaf: StrayLeaf, holder: str) -> tuple[Remedy, ...]:
    if leaf.behind:
        title = f"wrap the finished value: `{holder} = nn.Parameter(value)`, with nothing applied after it"
        return (Remedy(title=title),)
    if leaf.container in ("list", "tuple"):
        return (Remedy(title=f"hold them in `{holder} = nn.ParameterList(…)`"),)
    if leaf.container == "dict":
        return (Remedy(title=f"hold them in `{holder} = nn.ParameterDict(…)`"),)
    return (
        Remedy(title=f"make it a parameter: `{holder} = nn.Parameter(…)`"),
        Remedy(
            title=f"or, if it is not meant to learn, `register_buffer({leaf.attribute!r}, …)` without `requires_grad`"
        ),
    )
