"""A parameter or buffer that was not finite before the first update."""

from __future__ import annotations

from torchmedic.facts import OptimizerSeen, Origin, Source, StateLoaded, TensorSummary
from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import fitted
from torchmedic.rules.wiring._telling import counted


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
        loaded = _loaded(case)
        if loaded is None and (case.sick.step or 1) > 1:
            return _made_by_training(case, source, origin)
        where = loaded.where if loaded is not None and loaded.where is not None else origin.op.where
        count = _count(source.tensor)
        return Explanation(
            headline=fitted(
                f"the {source.origin} `{source.name}` was not finite before step {case.sick.step}"
                + (f": {count}" if count else ""),
                f"the {source.origin} `{source.name}` was not finite before step {case.sick.step}",
            ),
            where=where,
            label="loaded here" if loaded is not None else f"`{source.name}` is used here",
            also=shown_at(origin.op.where, f"`{source.name}` is used here"),
            parameter=source.name,
            tensor=source.name,
            notes=(_held(source),),
            remedies=(
                Remedy(title="load a checkpoint from before the values were lost, and check it with `torch.isfinite`"),
                Remedy(title="or initialise the tensor: `torch.empty` holds whatever was in memory"),
            ),
        )


def _loaded(case: Case) -> StateLoaded | None:
    """Weights that were loaded and not trained since: after a healthy step they are not to blame."""
    before = (case.sick.step or 1) - 1
    return next((s for s in case.run.all(StateLoaded) if (s.step or 0) >= before), None)


def _made_by_training(case: Case, source: Source, origin: Origin) -> Explanation:
    """Earlier steps were healthy: the last update wrote the bad values, or a line between it and this step."""
    last = (case.sick.step or 1) - 1
    seen = [o for o in case.run.all(OptimizerSeen) if source.name in o.names] or list(case.run.all(OptimizerSeen))
    optimizer = seen[0] if len(seen) == 1 and source.origin == "parameter" else None
    own = optimizer.defined if optimizer is not None else None
    stepped = optimizer.stepped if optimizer is not None else None
    kind = f"`{optimizer.type}`" if optimizer is not None else ""
    return Explanation(
        headline=fitted(
            f"the {source.origin} `{source.name}` was not finite any more after step {last}",
            f"`{source.name}` was not finite any more after step {last}",
        ),
        where=own or stepped or origin.op.where,
        label=f"the update of {kind}, written here" if own else f"updated by {kind} here" if stepped else "used here",
        also=(
            *(shown_at(stepped, "the update is made here") if own else ()),
            *shown_at(origin.op.where, f"`{source.name}` is used here"),
        ),
        confidence="likely",
        parameter=source.name,
        tensor=source.name,
        notes=(
            _held(source),
            f"{counted(last, 'step')} before this one {'was' if last == 1 else 'were'} healthy and nothing was loaded "
            "since: the last update made it so, or an assignment after it",
        ),
        remedies=(
            Remedy(title="look at what the update divides by, takes the root of, or multiplies, at this parameter"),
            Remedy(title="or at lines that write into it between two steps: averaging, clipping, `copy_`, `data`"),
        ),
    )


def _count(tensor: TensorSummary) -> str:
    """How many values are bad; nothing where they lie on a device and were not counted."""
    bad = (tensor.nan or 0) + (tensor.inf or 0)
    return counted(bad, "value") if bad else ""


def _held(source: Source) -> str:
    count = _count(source.tensor)
    first = f", the first {source.value}" if source.value else ""
    return f"`{source.name}` is {source.tensor}: {count or 'some values'} NaN or infinite{first}"
