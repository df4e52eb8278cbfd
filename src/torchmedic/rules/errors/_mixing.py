"""A reshape that mixed the samples of a batch: the line it stands on, and what it made of how much."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from torchmedic.facts import BatchReshaped, Crash, LayerBuilt, Location, ModelAtCrash, Run, TensorSummary
from torchmedic.rules.errors._syntax import Code, dotted

_RESHAPES = ("view", "reshape")
_LONGEST = 32
_ONE_PER_SAMPLE = re.compile(r"\.size\(0\)|\.shape\[0\]|\blen\(|\bbatch(_size)?\b", re.IGNORECASE)


@dataclass(frozen=True)
class Mixing:
    """The call, where it is known, the shapes before and after it, and the layer built for the width it gives."""

    where: Location | None
    call: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    layer: LayerBuilt | None
    is_seen: bool = True

    @property
    def width(self) -> int:
        """How many values it puts into a row."""
        return math.prod(self.after[1:])

    @property
    def right(self) -> int:
        """How many values a sample has."""
        return math.prod(self.before[1:])

    @property
    def times(self) -> int:
        """How many rows it makes of each sample; 0 where that is no whole number."""
        return self.after[0] // self.before[0] if self.after[0] % self.before[0] == 0 else 0

    @property
    def keeps_steps(self) -> bool:
        """Whether it put the steps of sequences into the batch, as a layer for single steps takes them."""
        return len(self.before) == 3 and self.after[1:] == self.before[2:]


def reshaped_batch(run: Run, crash: Crash) -> BatchReshaped | None:
    """The reshape behind a tensor whose rows the message compares with the samples of the batch."""
    seen = run.first(BatchReshaped)
    named = re.findall(r"\d+", crash.message)
    is_told = seen is not None and {str(seen.shape[0]), str(seen.other[0])} <= set(named)
    return seen if is_told and "cannot be multiplied" not in crash.message else None


def mixing(
    run: Run, crash: Crash, x: TensorSummary | None, y: TensorSummary | None, held: Sequence[TensorSummary]
) -> Mixing | None:
    """The reshape after which a row is no sample any more: seen in the graph, or the one that the numbers allow."""
    seen = reshaped_batch(run, crash)
    if seen is not None:
        where, call = _written(run, seen.before, seen.after)
        return Mixing(where, call, seen.before, seen.after, _layer(run, math.prod(seen.after[1:])))
    if x is None or y is None or not x.shape or not y.shape or x.shape[0] in (y.shape[0], math.prod(y.shape)):
        return None
    return _by_numbers(run, x.shape[0], y.shape, held)


def _by_numbers(run: Run, rows: int, target: tuple[int, ...], held: Sequence[TensorSummary]) -> Mixing | None:
    """The one `view(-1, width)` of an input without a graph, when as many samples were there as the target has."""
    code, batch = Code.of(run), target[0]
    inputs = [t.shape for t in held if t.shape[:1] == (batch,) and t.shape != target]
    found = [
        (code.place(file, node), _text(node), width, rows * width // batch)
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _RESHAPES
        if len(node.args) == 2 and _number(node.args[0]) == -1
        for width in [_number(node.args[1])]
        if width and width > 0 and rows * width % batch == 0
    ]
    if len(found) != 1 or not inputs:
        return None
    where, call, width, right = found[0]
    return Mixing(where, call, _whole(inputs, batch, right), (rows, width), _layer(run, width), False)


def _whole(inputs: list[tuple[int, ...]], batch: int, right: int) -> tuple[int, ...]:
    """The input with as many values; its features may have been computed since."""
    return next((form for form in inputs if math.prod(form) == batch * right), (batch, right))


def _written(run: Run, before: tuple[int, ...], after: tuple[int, ...]) -> tuple[Location | None, str]:
    """The one call in the user's files that makes the one shape of the other, where no other fits as well."""
    code = Code.of(run)
    fitting = [
        (score, code.place(file, node), _text(node))
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and (score := _fit(node, before, after)) is not None
    ]
    types = [*(layer.type for layer in run.all(LayerBuilt)), *(model.type for model in run.all(ModelAtCrash))]
    kinds = {name.rpartition(".")[2] for name in types}
    inside = [found for found in fitting if kinds & set(found[1].function.split("."))] or fitting
    best = [found for found in inside if found[0] == max(score for score, _, _ in inside)]
    return best[0][1:] if len(best) == 1 else (None, "")


def _fit(call: ast.Call, before: tuple[int, ...], after: tuple[int, ...]) -> int | None:
    """How many sizes of a reshape the call writes down rightly; None where it cannot have been this one.

    >>> call = ast.parse("x.view(-1, 16 * 8 * 8)", mode="eval").body
    >>> _fit(call, (16, 16, 16, 16), (64, 1024)), _fit(call, (16, 64), (32, 32))
    (1, None)
    """
    name = dotted(call.func).rpartition(".")[2]
    if name in ("flatten", "Flatten"):
        return _fit_of_flatten(call, name, before, after)
    if name == "rearrange":
        made = [a.value.partition("->")[2] for a in call.args if isinstance(a, ast.Constant) and type(a.value) is str]
        return 1 if any(text.strip().startswith("(") for text in made) else None
    return _fit_of_sizes(_sizes(call), after) if name in _RESHAPES else None


def _sizes(call: ast.Call) -> list[ast.expr]:
    given = call.args[1:] if dotted(call.func).startswith("torch.") else call.args
    return list(given[0].elts) if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)) else list(given)


def _fit_of_sizes(sizes: list[ast.expr], after: tuple[int, ...]) -> int | None:
    if any(isinstance(size, ast.Starred) for size in sizes) or (len(sizes) == 1 and _number(sizes[0]) is None):
        return 0
    if len(sizes) != len(after) or _ONE_PER_SAMPLE.search(ast.unparse(sizes[0])):
        return None
    told = [(_number(size), is_) for size, is_ in zip(sizes, after, strict=True)]
    if any(number not in (None, -1, is_) for number, is_ in told):
        return None
    return sum(number == is_ for number, is_ in told)


def _fit_of_flatten(call: ast.Call, name: str, before: tuple[int, ...], after: tuple[int, ...]) -> int | None:
    given = call.args[1:] if dotted(call.func).startswith("torch.flatten") else call.args
    named = {k.arg: k.value for k in call.keywords}
    bounds = [
        named.get("start_dim", given[0] if given else None),
        named.get("end_dim", given[1] if len(given) > 1 else None),
    ]
    usual = (1 if name == "Flatten" else 0, -1)
    first, last = (_axis(b, u, len(before)) for b, u in zip(bounds, usual, strict=True))
    made = (*before[:first], math.prod(before[first : last + 1]), *before[last + 1 :])
    return 2 if made == after else None


def _axis(given: ast.expr | None, usual: int, dimensions: int) -> int:
    number = _number(given) if given is not None else usual
    return (usual if number is None else number) % dimensions


def _text(call: ast.Call) -> str:
    """The call without what it is called on."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    written = f"{name}({', '.join(ast.unparse(a) for a in (*call.args, *call.keywords))})"
    return written if len(written) <= _LONGEST else f"{name}(…)"


def _layer(run: Run, width: int) -> LayerBuilt | None:
    return next((b for b in run.all(LayerBuilt) if b.settings.get("in_features") == str(width)), None)


def _number(node: ast.expr) -> int | None:
    """What a product of plain numbers comes to.

    >>> _number(ast.parse("16 * 5 * 5", mode="eval").body), _number(ast.parse("-1", mode="eval").body)
    (400, -1)
    """
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return -inner if inner is not None else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _number(node.left), _number(node.right)
        return left * right if left is not None and right is not None else None
    return None
