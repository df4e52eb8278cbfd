"""The derivative of a root or norm at 0."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted, short

_ROOTS = (
    "sqrt",
    "rsqrt",
    "pow",
    "linalg_vector_norm",
    "norm",
    "cdist",
    "_cdist_forward",
    "_euclidean_dist",
    "pairwise_distance",
)


class InfiniteRootDerivative(NumericsRule):
    """`sqrt` has an infinite slope at 0."""

    code = "NUM006"
    name = "infinite-root-derivative"
    tell_apart = "the loss is finite, and the first bad operation is the backward of a root, power or norm at 0"
    rank = 42

    def explain(self, case: Case) -> Explanation | None:
        op, argument = case.op, case.first
        if op is None or case.name not in _ROOTS or not case.in_backward:
            return None
        if (
            argument is not None
            and argument.tensor.minimum is not None
            and argument.tensor.minimum < 0
            and case.name == "sqrt"
        ):
            return None
        zeros = max((o.tensor.zeros or 0 for o in op.operands), default=0)
        named = f"`{short(argument.name)}`" if argument is not None and argument.name else "its argument"
        said = "a norm" if "norm" in case.name or "dist" in case.name else f"`{case.name}`"
        return Explanation(
            headline=fitted(
                f"the derivative of {said} is infinite: {named} is 0 {at_step(case)}",
                f"the derivative of {said} at 0 is infinite {at_step(case)}",
            ),
            where=op.where,
            mark=op.expression,
            label="0 here, so the slope is infinite",
            tensor=argument.name if argument is not None else None,
            notes=(f"the forward result is finite; the backward of `{case.name}` divides by 0",)
            + ((f"0 in {zeros} places",) if zeros > 1 else ()),
            remedies=(Remedy(title="add a small number inside the root: `torch.sqrt(x + 1e-12)`"),),
            tries=("argument of the root", "base of the power", "norm of a zero vector"),
        )
