"""Changes of one call that may cure a step, each tried by running the step again with it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from torchmedic.late import late_dataclass
from torchmedic.probes.graph.trace import Op, Place
from torchmedic.probes.source.frames import is_user_file, outward
from torchmedic.replay.ancestry import base_name

Call = Callable[..., Any]
Change = Callable[[Call, tuple[Any, ...], dict[str, Any]], Any]


@late_dataclass(frozen=True)
class Cure:
    """One change: what is suspected, what is done about it, and the change itself.

    `text` has a `{x}` where the operand's own text goes. `hides` marks changes that make numbers finite without
    touching the cause; they are tried to be told apart from cures.
    """

    suspect: str
    text: str
    calls: frozenset[str]
    change: Change
    hides: bool = False
    is_cure: bool = True


class Treatment(TorchFunctionMode):
    """Applies a cure wherever the guilty place makes the guilty call."""

    def __init__(self, cure: Cure, place: Place) -> None:
        super().__init__()
        self._cure = cure
        self._place = place
        self._busy = False
        self.is_live = True
        self.applied = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not self.is_live or self._busy or getattr(func, "__name__", "") not in self._cure.calls or not self._here():
            return func(*args, **kwargs)
        self._busy = True
        try:
            result = self._cure.change(func, args, kwargs)
        finally:
            self._busy = False
        self.applied += 1
        return result

    def _here(self) -> bool:
        frame = next((f for f in outward(sys._getframe(2)) if is_user_file(f.f_code.co_filename)), None)
        return frame is not None and frame.f_code is self._place.code and frame.f_lineno == self._place.line


def first(change: Callable[[torch.Tensor], torch.Tensor]) -> Change:
    """Change the first operand."""

    def apply(func: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not args or not isinstance(args[0], torch.Tensor):
            return func(*args, **kwargs)
        return func(change(args[0]), *args[1:], **kwargs)

    return apply


def second(change: Callable[[torch.Tensor], torch.Tensor]) -> Change:
    """Change the second operand (of a division, the divisor; reversed for `__rtruediv__`)."""

    def apply(func: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if getattr(func, "__name__", "") in ("__rtruediv__", "__rdiv__"):
            return func(change(args[0]), *args[1:], **kwargs)
        if len(args) < 2 or not isinstance(args[1], torch.Tensor):
            return func(*args, **kwargs)
        return func(args[0], change(args[1]), *args[2:], **kwargs)

    return apply


def in_type(dtype: torch.dtype) -> Change:
    """Run the call in another floating type, result cast back."""

    def widen(value: Any) -> Any:
        return value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    def apply(func: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with torch.autocast("cuda", enabled=False), torch.autocast("cpu", enabled=False):
            result = func(*[_each(widen, a) for a in args], **{k: widen(v) for k, v in kwargs.items()})
        before = next((a.dtype for a in args if isinstance(a, torch.Tensor) and a.is_floating_point()), dtype)
        keeps_wide = dtype == torch.float32 and before in (torch.float16, torch.bfloat16)
        return result if keeps_wide or not isinstance(result, torch.Tensor) else result.to(before)

    return apply


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    return type(value)(change(v) for v in value) if isinstance(value, (list, tuple)) else change(value)


def _floor(eps: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """Keep a divisor away from 0 on its own side of it."""

    def change(divisor: torch.Tensor) -> torch.Tensor:
        small = divisor.abs() < eps
        return torch.where(small, torch.full_like(divisor, eps), divisor)

    return change


def _tiny(x: torch.Tensor) -> float:
    """An epsilon that the type can hold and that survives a division."""
    return 1e-4 if _is_half(x) else 1e-8


def _is_half(x: torch.Tensor) -> bool:
    return x.dtype in (torch.float16, torch.bfloat16)


def _largest_exponent(x: torch.Tensor) -> float:
    return 10.0 if x.dtype == torch.float16 else 80.0


_DIVISIONS = frozenset(
    {
        "div",
        "true_divide",
        "divide",
        "__truediv__",
        "__rtruediv__",
        "__rdiv__",
        "div_",
        "__itruediv__",
        "reciprocal",
        "__idiv__",
    }
)
_SIGNED_FLOOR = "`torch.where({x}.abs() < 1e-8, 1e-8, {x})`"


_COUNTED_FROM_ONE = Cure(
    "base of the power",
    "`{x}.clamp(min=1)`",
    frozenset({"pow", "__pow__", "pow_", "float_power"}),
    first(lambda x: x.clamp_min(1.0) if x.numel() and float(x.max()) >= 1 else x.clamp_min(_tiny(x))),
)


def _population(func: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    kwargs = {k: v for k, v in kwargs.items() if k != "unbiased"} | {"correction": 0}
    dims = args[1] if len(args) > 1 and not isinstance(args[1], bool) else kwargs.pop("dim", None)
    return func(args[0], dim=dims, **kwargs)


def _zero_infinity(func: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(*args[:6], **(kwargs | {"zero_infinity": True}))


def _mean_or_zero(func: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0].sum() if args[0].numel() == 0 else func(*args, **kwargs)


_TABLE: tuple[tuple[tuple[str, ...], Cure], ...] = (
    (
        ("log", "log2", "log10"),
        Cure(
            "argument of the logarithm",
            "`{x}.clamp_min(1e-8)`",
            frozenset({"log", "log2", "log10", "log_"}),
            first(lambda x: x.clamp_min(_tiny(x))),
        ),
    ),
    (
        ("log1p",),
        Cure(
            "argument of `log1p`",
            "`{x}.clamp_min(-1 + 1e-6)`",
            frozenset({"log1p", "log1p_"}),
            first(lambda x: x.clamp_min(-1 + 1e-6)),
        ),
    ),
    (
        ("div", "reciprocal"),
        Cure("divisor", "`{x}.clamp_min(1e-8)`", _DIVISIONS, second(lambda x: _floor(_tiny(x))(x))),
    ),
    (
        ("sqrt", "rsqrt"),
        Cure(
            "argument of the root",
            "`{x}.clamp_min(1e-12)`",
            frozenset({"sqrt", "rsqrt", "sqrt_", "rsqrt_"}),
            first(lambda x: x.clamp_min(max(1e-12, _tiny(x) if _is_half(x) else 0.0))),
        ),
    ),
    (
        ("pow",),
        Cure(
            "base of the power",
            "`{x}.clamp_min(1e-8)`",
            frozenset({"pow", "__pow__", "pow_", "float_power"}),
            first(lambda x: x.clamp_min(_tiny(x))),
        ),
    ),
    (
        ("acos", "asin", "acosh"),
        Cure(
            "argument at the edge",
            "`{x}.clamp(-1 + 1e-6, 1 - 1e-6)`",
            frozenset({"acos", "asin", "arccos", "arcsin"}),
            first(lambda x: x.clamp(-1 + 1e-6, 1 - 1e-6)),
        ),
    ),
    (
        ("atanh",),
        Cure(
            "argument at the edge",
            "`{x}.clamp(-1 + 1e-6, 1 - 1e-6)`",
            frozenset({"atanh", "arctanh"}),
            first(lambda x: x.clamp(-1 + 1e-6, 1 - 1e-6)),
        ),
    ),
    (
        ("exp", "expm1", "exp2", "sinh", "cosh"),
        Cure(
            "argument of the exponential",
            "`{x}.clamp(max=80)`",
            frozenset({"exp", "expm1", "exp2", "sinh", "cosh", "exp_"}),
            first(lambda x: x.clamp(max=_largest_exponent(x))),
        ),
    ),
    (
        ("_softmax", "_log_softmax", "softmax", "_safe_softmax"),
        Cure(
            "rows that are masked out whole",
            "a large finite mask value, `torch.finfo({x}.dtype).min / 2`, instead of `-inf`",
            frozenset({"softmax", "log_softmax"}),
            first(lambda x: x.clamp_min(torch.finfo(x.dtype).min / 2)),
        ),
    ),
    (
        ("linalg_vector_norm", "norm", "_norm"),
        Cure(
            "norm of a zero vector",
            "`{x} + 1e-6` inside the norm",
            frozenset({"norm", "linalg_norm", "vector_norm", "linalg_vector_norm", "cdist", "pairwise_distance"}),
            first(lambda x: x + 1e-6),
        ),
    ),
    (
        ("std", "var", "var_mean", "std_mean"),
        Cure("spread of a single value", "`correction=0`", frozenset({"std", "var"}), _population),
    ),
    (
        ("_linalg_svd", "linalg_svd", "svd", "_linalg_eigh", "linalg_eigh"),
        Cure(
            "equal singular values",
            "a little noise: `{x} + 1e-3 * torch.randn_like({x})`",
            frozenset({"svd", "linalg_svd", "eigh", "linalg_eigh", "svdvals"}),
            first(lambda x: x + 1e-3 * torch.randn_like(x)),
        ),
    ),
    (
        ("_ctc_loss", "ctc_loss"),
        Cure("targets longer than the input", "`zero_infinity=True`", frozenset({"ctc_loss"}), _zero_infinity, True),
    ),
    (
        ("mean",),
        Cure("mean over nothing", "skip the term when nothing is selected", frozenset({"mean"}), _mean_or_zero),
    ),
)


def cures_for(op: Op, forward: Op | None) -> list[Cure]:
    """The changes that make sense at an operation, cures first, then suspects to be ruled in or out."""
    guilty = forward or op
    name = base_name(guilty.name)
    fitting = [cure for names, cure in _TABLE if name in names]
    if name == "pow" and guilty.scalars and guilty.scalars[0] < 0:
        fitting = [_COUNTED_FROM_ONE]
    fitting = [_as_tried(cure, guilty) for cure in fitting]
    called = frozenset().union(*(cure.calls for cure in fitting)) or frozenset({name})
    suspects = [
        Cure("float32 precision", "that call in float64", called, in_type(torch.float64), is_cure=False),
        Cure(
            "`nan_to_num` on its input",
            "`torch.nan_to_num({x})`",
            called,
            first(torch.nan_to_num),
            hides=True,
            is_cure=False,
        ),
    ]
    if _in_half(guilty):
        wide = Cure("half precision", "that call in float32 (outside autocast)", called, in_type(torch.float32))
        return [*fitting, wide, *suspects]
    return [*fitting, *suspects]


def _as_tried(cure: Cure, op: Op) -> Cure:
    """The text with the very numbers of the change: half precision needs larger ones, a signed divisor another form."""
    text = cure.text
    if cure.suspect == "divisor" and any(seen.low < 0 for seen in op.inputs[1:2]):
        text = _SIGNED_FLOOR
    if _in_half(op):
        largest = "max=10" if any(seen.dtype == "float16" for seen in op.inputs) else "max=80"
        text = re.sub(r"1e-(?:8|12)", "1e-4", text).replace("max=80", largest)
    return replace(cure, text=text)


def _in_half(op: Op) -> bool:
    return any(seen.dtype in ("float16", "bfloat16") for seen in (*op.inputs, *op.outputs))


def wrapped(operand: str) -> str:
    """Parentheses round an operand to which a method cannot be appended as it is.

    >>> wrapped("1 - d(x)"), wrapped("p.sum(1)")
    ('(1 - d(x))', 'p.sum(1)')
    """
    try:
        node = ast.parse(operand, mode="eval").body
    except SyntaxError:
        return operand
    return operand if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({operand})"
