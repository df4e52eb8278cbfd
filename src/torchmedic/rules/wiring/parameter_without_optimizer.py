"""Parameters that compute and get gradients, but that nobody gave to the optimizer."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import OptimizerSeen, Run, StrayLeaf
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted, listed, short
from torchmedic.rules.wiring.replaced_after_optimizer import is_late


class ParameterWithoutOptimizer(Rule):
    """Registered, freshly drawn, reached by the gradient, in no optimizer, unchanged at the end."""

    code = "WIR005"
    name = "parameter-without-optimizer"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the parameters are registered and older than the optimizer, which was not given them"
    needs = (StrayLeaf, OptimizerSeen)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        leaves = [leaf for leaf in run.all(StrayLeaf) if _is_forgotten(run, leaf)]
        seen_ones = list(run.all(OptimizerSeen))
        # Of two that hold the very same parameters the later one is the copy that was not changed.
        twins = [one for one in seen_ones if one.twin is not None]
        beside = [one for one in seen_ones if leaves and one.built == leaves[0].siblings_with is not None]
        optimizer = twins[-1] if twins else max(beside or seen_ones, key=lambda o: o.steps, default=None)
        if not leaves or optimizer is None or optimizer.plain_tensors == optimizer.parameters:
            return
        # Two models of the same build have parameters of the same names.
        unclear = any(leaf.name in seen.names for leaf in leaves for seen in seen_ones)
        names = [f"{leaf.owner}.{leaf.name}" if unclear and leaf.owner else leaf.name for leaf in leaves]
        where = optimizer.given or optimizer.built
        head = listed(names, 2) if len(names) <= 2 else f"`{short(names[0])}` and {len(names) - 1} more parameters"
        yield self.diagnose(
            headline=f"{head} {'is' if len(names) == 1 else 'are'} in no optimizer and never trained",
            confidence="proven" if all(leaf.in_root_with_optimized for leaf in leaves) else "likely",
            where=where,
            label=f"{counted(optimizer.parameters, 'parameter')} given, these not: {listed(names, 3)}",
            also=also((optimizer.built, "the optimizer"), (leaves[0].born, "built here"), where=where),
            culprit=Culprit(parameter=names[0], module=leaves[0].owner, phase="setup"),
            evidence=(
                _seen_to_stay(leaves, names),
                f"the `{optimizer.type}` holds {listed(optimizer.names, 4)}"
                if optimizer.names
                else f"`{optimizer.type}`",
                *(_about_twin(optimizer) if optimizer.twin is not None else ()),
            ),
            remedies=(
                *_giving(leaves),
                Remedy(title="or, if they are not meant to learn, say so: `requires_grad_(False)`"),
            ),
        )


def _about_twin(optimizer: OptimizerSeen) -> tuple[str, ...]:
    return (f"two optimizers hold the very same parameters: this one and the one built at {optimizer.twin}",)


def _is_forgotten(run: Run, leaf: StrayLeaf) -> bool:
    if leaf.place == "variable":
        return leaf.is_parameter and leaf.steps >= 3
    is_meant_to_learn = leaf.fresh or (leaf.thawed and leaf.in_root_with_optimized)
    return leaf.place == "module" and is_meant_to_learn and leaf.steps >= 3 and not is_late(run, leaf)


def _seen_to_stay(leaves: list[StrayLeaf], names: list[str]) -> str:
    if all(leaf.thawed for leaf in leaves):
        return f"{listed(names)} needed no gradient when training began; they get one by now, and stay as they are"
    return f"{listed(names)} got a gradient in every step looked at, and kept the values they were drawn with"


def _giving(leaves: list[StrayLeaf]) -> tuple[Remedy, ...]:
    if all(leaf.thawed for leaf in leaves):
        return (
            Remedy(title="give the optimizer what is unfrozen: `optimizer.add_param_group({'params': …})` beside it"),
            Remedy(title="or give it all parameters at once: those without a gradient are passed over"),
        )
    return (Remedy(title="give the optimizer all parameters: `model.parameters()`, or a group for each part"),)
