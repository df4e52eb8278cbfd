"""A layer replaced after the optimizer was built: the optimizer still holds the old one."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Location, OptimizerSeen, Run, StrayLeaf
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, common_layer, counted, listed, short


class ReplacedAfterOptimizer(Rule):
    """Parameters born after the optimizer, which holds others that no module has any more."""

    code = "WIR004"
    name = "replaced-after-optimizer"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the untrained parameters are younger than the optimizer, or it holds some that belong to no module"
    needs = (StrayLeaf, OptimizerSeen)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        leaves = [leaf for leaf in run.all(StrayLeaf) if is_late(run, leaf)]
        if not leaves:
            return
        optimizer = next((o for o in run.all(OptimizerSeen) if o.orphans), run.first(OptimizerSeen))
        if optimizer is not None and optimizer.copied and not leaves[0].after_optimizer:
            yield self._tell_of_copy(optimizer, leaves)
            return
        built, first = optimizer.built if optimizer else None, leaves[0]
        if first.after_optimizer and first.in_forward and first.born is not None:
            made = [leaf for leaf in leaves if leaf.in_forward]
            yield self._tell_of_forward(first.siblings_with or built, first.born, made)
            return
        where = first.called_at or (first.born if first.after_optimizer else first.replaced) or built
        names = list(dict.fromkeys(leaf.name for leaf in leaves))
        orphans = optimizer.orphans if optimizer else 0
        part = common_layer(names) or first.owner
        if first.fresh and part == first.owner:  # several layers; what was loaded or copied is a model as a whole
            headline = f"{listed(names, 2)} were replaced after the optimizer was built and never train"
        else:
            headline = f"`{short(part)}` was replaced after the optimizer was built and never trains"
        yield self.diagnose(
            headline=headline,
            confidence="proven",
            where=where,
            label=f"{listed(names, 3)} made here, later than the optimizer"
            if first.called_at is None
            else f"makes {listed(names, 3)} anew, later than the optimizer",
            also=also(
                (built, "this optimizer holds the parameters of before"),
                (first.born if first.called_at is not None else None, "the new one is made here"),
                where=where,
            ),
            culprit=Culprit(parameter=names[0], module=part, phase="setup"),
            evidence=(
                f"{listed(names)} got a gradient in every step looked at, are in no optimizer, values unchanged",
                *(
                    (f"the optimizer holds {counted(orphans, 'parameter')} that no module has any more",)
                    if orphans
                    else ()
                ),
            ),
            remedies=(
                Remedy(title="build the optimizer after the last change to the model"),
                Remedy(title="or hand the new ones over with `optimizer.add_param_group`"),
            ),
        )

    def _tell_of_forward(self, built: Location | None, where: Location, leaves: list[StrayLeaf]) -> Diagnosis:
        names = [leaf.name for leaf in leaves]
        part = common_layer(names) or leaves[0].owner
        return self.diagnose(
            headline=f"`{short(part)}` is made by the first forward, after the optimizer was built, and never trains",
            confidence="proven",
            where=where,
            label=f"{listed(names, 3)} made here, later than the optimizer",
            also=also((built, "this optimizer is given the parameters that are there before")),
            culprit=Culprit(parameter=names[0], module=part, phase="setup"),
            evidence=(
                f"{listed(names)} got a gradient in every step looked at, are in no optimizer, values unchanged",
            ),
            remedies=(
                Remedy(title=f"make `{short(part)}` in `__init__`, or with a lazy module such as `nn.LazyLinear`"),
                Remedy(title="or run the model on one batch before the optimizer is built"),
            ),
        )

    def _tell_of_copy(self, optimizer: OptimizerSeen, leaves: list[StrayLeaf]) -> Diagnosis:
        names, model = [leaf.name for leaf in leaves], leaves[0].owner
        where = optimizer.given or optimizer.built
        return self.diagnose(
            headline=f"`{optimizer.type}` holds the parameters of a copy: `{short(model)}` itself never trains",
            confidence="proven",
            where=where,
            label="hands over the parameters of a copy",
            also=also((optimizer.built, "the optimizer that is given them"), where=where),
            culprit=Culprit(parameter=names[0], module=model, phase="setup"),
            evidence=(
                f"{listed(names)} got a gradient in every step looked at, are in no optimizer, values unchanged",
                f"the {counted(optimizer.orphans, 'parameter')} of the optimizer had the same values, and belong to no "
                f"module that is still there",
            ),
            remedies=(
                Remedy(title=f"give `{optimizer.type}` the `parameters()` of the model that computes the loss"),
                Remedy(title="or keep the copy in a variable, and train that one"),
            ),
        )


def is_late(run: Run, leaf: StrayLeaf) -> bool:
    """Younger than the optimizer, or of a shape that only the optimizer still has."""
    if leaf.place != "module" or leaf.steps < 2:
        return False
    optimizers = list(run.all(OptimizerSeen))
    orphans = [shape for o in optimizers for shape in o.orphan_shapes]
    if leaf.after_optimizer:
        # A copy is not fresh, but an optimizer that holds nothing in use was certainly left behind.
        left_behind = any(o.looked_at >= 3 and not o.reached for o in optimizers)
        return left_behind or (leaf.fresh and (leaf.in_root_with_optimized or bool(orphans)))
    return leaf.fresh and leaf.shape in orphans
