"""A parameter or buffer that was not finite before the first update."""

from __future__ import annotations

from torchmedic.facts import StateLoaded
from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import fitted


class NonFiniteWeight(NumericsRule):
    """A weight that was loaded or initialised as NaN or infinity."""

    code = "NUM024"
    name = "non-finite-weight"
    tell_apart = "the bad values were in a parameter or buffer when the step began"
    rank = 12

    def explain(self, case: Case) -> Explanation | None:
        source, origin = case.source, case.origin
        if source is None or origin is None or source.origin not in ("parameter", "buffer"):
            return None
        count = (source.tensor.nan or 0) + (source.tensor.inf or 0)
        loaded = next((s for s in case.run.all(StateLoaded)), None)
        where = loaded.where if loaded is not None and loaded.where is not None else origin.op.where
        return Explanation(
            headline=fitted(
                f"the {source.origin} `{source.name}` was not finite before step {case.sick.step}: {count} values",
                f"the {source.origin} `{source.name}` was not finite before step {case.sick.step}",
            ),
            where=where,
            label="loaded here" if loaded is not None else f"`{source.name}` is used here",
            also=shown_at(origin.op.where, f"`{source.name}` is used here"),
            parameter=source.name,
            tensor=source.name,
            notes=(f"`{source.name}` is {source.tensor}: {count} values NaN or infinite, the first {source.value}",),
            remedies=(
                Remedy(title="load a checkpoint from before the values were lost, and check it with `torch.isfinite`"),
                Remedy(title="or initialise the tensor: `torch.empty` holds whatever was in memory"),
            ),
        )
