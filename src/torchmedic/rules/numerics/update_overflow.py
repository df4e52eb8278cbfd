"""An update that made weights non-finite although the gradients were finite."""

from __future__ import annotations

from torchmedic.facts import SickStep
from torchmedic.findings import Remedy, Symptom
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._explosions import exploding_line
from torchmedic.rules.numerics._reading import fitted


class UpdateOverflow(NumericsRule):
    """Weights or the optimizer's state overflowed in the update itself."""

    code = "NUM028"
    name = "update-overflow"
    symptoms = (Symptom.WEIGHTS_NAN,)
    tell_apart = "gradients and learning rate were finite; the weights are not after the update"
    rank = 6

    def explain(self, case: Case) -> Explanation | None:
        sick = case.sick
        # Values that explode from the start on are what is to be mended, not the update that they reach.
        if sick.what != "update" or case.origin is not None or exploding_line(case.run) is not None:
            return None
        bad = len(sick.bad_parameters)
        return Explanation(
            headline=_headline(sick),
            where=sick.optimizer_built or sick.backward_at,
            label="this optimizer" if sick.optimizer_built else "the update",
            confidence="likely",
            also=shown_at(sick.backward_at, "the update"),
            parameter=sick.bad_parameters[0] if bad else None,
            tensor=sick.bad_parameters[0] if bad else None,
            notes=("all gradients were finite before it",)
            + (() if bad else ("the weights are still finite: gradients were too large to be squared, they explode",))
            + ((f"learning rate {sick.learning_rate}",) if sick.learning_rate else ()),
            remedies=(
                Remedy(title="keep weights and optimizer state in float32: in float16 Adam's `eps=1e-8` is 0"),
                Remedy(title="lower the learning rate, or clip gradients before the update"),
            ),
        )


def _headline(sick: SickStep) -> str:
    """The state of an optimizer overflows before the weights do, because it holds squares of gradients."""
    bad = len(sick.bad_parameters)
    if not bad:
        return f"the update of step {sick.step} made the state of `{sick.optimizer or 'the optimizer'}` infinite"
    first = f", the first `{sick.bad_parameters[0]}`"
    return fitted(
        f"the update of step {sick.step} made {bad} of {sick.parameters} parameters non-finite{first}",
        f"the update of step {sick.step} made {bad} of {sick.parameters} parameters non-finite",
    )
