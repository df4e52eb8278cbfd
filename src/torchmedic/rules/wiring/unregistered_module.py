"""Layers in a plain list, dict or object: they compute, get gradients, and are never trained or saved."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import OptimizerSeen, Run, StrayLeaf
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted, listed, short

_CURES = {"list": "nn.ModuleList(…)", "tuple": "nn.ModuleList(…)", "dict": "nn.ModuleDict(…)"}


class UnregisteredModule(Rule):
    """Modules that hang on another one by an attribute that registers nothing."""

    code = "WIR001"
    name = "unregistered-module"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.SCORE_LOW, Symptom.CHECKPOINT_DIFFERS)
    tell_apart = "the layers hang on the module in a list, dict or object, and `parameters()` does not list them"
    needs = (StrayLeaf, OptimizerSeen)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        stray = [leaf for leaf in run.all(StrayLeaf) if leaf.place == "hung" and leaf.layer and leaf.steps >= 2]
        for owner, attribute in dict.fromkeys((leaf.owner, leaf.attribute) for leaf in stray):
            leaves = [leaf for leaf in stray if (leaf.owner, leaf.attribute) == (owner, attribute)]
            yield self._one(leaves, run.first(OptimizerSeen))

    def _one(self, leaves: list[StrayLeaf], optimizer: OptimizerSeen | None) -> Diagnosis:
        leaf = leaves[0]
        container = leaf.container or "plain attribute"
        holder = f"self.{leaf.attribute}"
        built = optimizer.built if optimizer else None
        cure = _CURES.get(leaf.container, "nn.ModuleList(…)")
        return self.diagnose(
            headline=f"{counted(len(leaves), 'parameter')} in the {container} `{short(holder)}` are never trained",
            confidence="proven",
            where=leaf.hung or leaf.born,
            label=f"a {container}: `{leaf.owner}` does not register what is in it",
            also=also((built, "this optimizer never saw them"), where=leaf.hung),
            culprit=Culprit(module=leaf.attribute, parameter=leaf.name, phase="setup"),
            evidence=(
                f"{listed(item.name for item in leaves)} got a gradient in every step looked at, "
                "are in no optimizer and kept their first values",
                f"`parameters()` and `state_dict()` of `{leaf.owner}` lack them, and so does every checkpoint",
            ),
            remedies=(
                Remedy(
                    title=f"hold them in `{holder} = {cure}`",
                    detail="then `parameters()`, `to()` and `state_dict()` see them",
                ),
            ),
        )
