"""Which way a loss moves the answers that it is about: towards their targets, towards what was rewarded, or away."""

from __future__ import annotations

import ast
from typing import Any

import torch

from torchmedic.facts import OverlapMoved, PolicyMoved
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.graph.calls import ELEMENTWISE, TRANSPARENT, Call, CallTrace, Read
from torchmedic.probes.loss.entropies import Entropies, gradients_of
from torchmedic.probes.objects.rows import tokens
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.positions import operand_names
from torchmedic.probes.source.sources import user_files
from torchmedic.record import Recorder

_PRODUCTS = frozenset(("mul", "rmul", "imul"))
_PASSED = ELEMENTWISE | {"sum", "mean", "rmul", "radd", "flatten", "squeeze"}
_GATHERING = frozenset(("stack", "cat", "sum", "squeeze", "unsqueeze", "view", "reshape", "flatten", "getitem"))
_RETURNS = frozenset(("r", "rew", "rews", "reward", "rewards", "ret", "rets", "return", "returns", "g"))
_REWARDS = _RETURNS | {"adv", "advs", "advantage", "advantages", "gae", "delta", "td"}
_LEAST_PLACES = 32
_MOST_PLACES = 4_000_000
_MOST_OVERLAPS = 6
_MOST_SCORES = 512
_MOST_CALLS = 60


@late_dataclass()
class _Overlap:
    call: Call
    answers: torch.Tensor
    target: torch.Tensor


@late_dataclass()
class _Score:
    """A log-probability times how good the action was; `sign` is -1 where it was negated before."""

    call: Call
    score: torch.Tensor
    weight: Any
    sign: int


class Directions:
    """Remembers products of an examined step and asks for the gradient of the loss there, before its backward."""

    def __init__(self, recorder: Recorder, modules: Modules, optimizers: Optimizers) -> None:
        self._recorder = recorder
        self._modules = modules
        self._optimizers = optimizers
        self._overlaps: list[_Overlap] = []
        self._scores: list[_Score] = []
        self._entropies = Entropies(recorder)
        self._is_game: bool | None = None

    def close(self) -> None:
        self._overlaps.clear()
        self._scores.clear()
        self._entropies.close()

    def look(self, trace: CallTrace, call: Call, args: tuple[Any, ...], result: Any) -> None:
        self._entropies.look(call, result)
        if call.name not in _PRODUCTS or not call.is_users or call.place is None or len(args) < 2:
            return
        for one, other in (args[:2], args[1::-1]):
            if not isinstance(one, torch.Tensor) or not one.requires_grad:
                continue
            if isinstance(other, torch.Tensor) and other.requires_grad:
                return
            if _is_overlap(one, other) and len(self._overlaps) < _MOST_OVERLAPS:
                self._overlaps.append(_Overlap(call, one, other))
            elif len(self._scores) < _MOST_SCORES:
                sign = _sign_of_score(trace, one)
                if sign is not None:
                    self._scores.append(_Score(call, one, other, sign))

    def follow(self, trace: CallTrace, roots: tuple[Any, ...]) -> None:
        """Called when backward is about to run."""
        from torchmedic.probes.graph.reach import is_safe_to_follow

        overlaps = [(o, q) for o in self._overlaps if (q := _quotient(trace, o.call, o.target)) is not None]
        scores = self._scores if self._scores and self._is_rewarded() else []
        root = roots[0] if len(roots) == 1 else None
        if not (overlaps or scores) or not isinstance(root, torch.Tensor) or root.ndim or not root.requires_grad:
            return
        if any(group.get("maximize") for made in self._optimizers.alive() for group in made.param_groups):
            return
        if trace.has_hooks or not is_safe_to_follow(root, self._modules.alive()):
            return
        with torch._C.DisableTorchFunction():
            for overlap, quotient in overlaps:
                self._tell_overlap(trace, root, overlap, quotient)
            if scores:
                self._tell_policy(root, scores)
                self._entropies.tell(trace, root)

    def _is_rewarded(self) -> bool:
        if self._is_game is None:
            self._is_game = is_game()
        return self._is_game

    def _tell_overlap(self, trace: CallTrace, root: torch.Tensor, seen: _Overlap, quotient: Call) -> None:
        whole = seen.answers._base if seen.answers._is_view() else None
        base = whole if whole is not None and whole.numel() == seen.answers.numel() else seen.answers
        found = gradients_of(root, [base])[0]
        last = _last_of_function(trace, quotient)
        if found is None or last.place is None or seen.call.place is None:
            return
        with torch.no_grad():
            gradient, inside = found.reshape(seen.answers.shape), seen.target > 0.5
            self._recorder.observe(
                OverlapMoved(
                    step=self._recorder.step,
                    where=last.place.location(),
                    expression=last.place.expression(),
                    function=last.place.code.co_qualname,
                    product=seen.call.place.expression(),
                    inside=float(gradient[inside].sum()),
                    outside=float(gradient[~inside].sum()),
                    answer_inside=float(seen.answers[inside].mean()),
                    answer_outside=float(seen.answers[~inside].mean()),
                )
            )

    def _tell_policy(self, root: torch.Tensor, scores: list[_Score]) -> None:
        found = gradients_of(root, [seen.score for seen in scores])
        along = total = 0.0
        with torch.no_grad():
            for seen, gradient in zip(scores, found, strict=True):
                if gradient is None:
                    continue
                moved = gradient * seen.weight * seen.sign
                along += float(moved.sum())
                total += float(moved.abs().sum())
        first = scores[0].call.place
        names = operand_names(first.expression()) if first is not None else ()
        rewards = [name for name in names if tokens(name) & _REWARDS]
        if first is None or not total or len(rewards) != 1:
            return
        self._recorder.observe(
            PolicyMoved(
                step=self._recorder.step,
                where=first.location(),
                expression=first.expression(),
                weight=rewards[0],
                agreement=along / total,
                samples=sum(seen.score.numel() for seen in scores),
            )
        )


def _is_overlap(answers: torch.Tensor, target: Any) -> bool:
    """Whether one side lies between 0 and 1, and the other is 0 or 1, and both at times."""
    if not isinstance(target, torch.Tensor) or target.shape != answers.shape:
        return False
    if not _LEAST_PLACES <= answers.numel() <= _MOST_PLACES or not answers.is_floating_point():
        return False
    low, high = answers.detach().aminmax()
    is_binary = bool(((target == 0) | (target == 1)).all()) and bool((target != target.flatten()[0]).any())
    return is_binary and float(low) >= 0 and float(high) <= 1


def _quotient(trace: CallTrace, product: Call, target: torch.Tensor) -> Call | None:
    """The division of a product, by way of sums, by something that the whole mask is a part of, as in Dice and IoU.

    Where the mask does not stand below by itself, the product is a share, and a share of the wrong kind is made small.
    """
    waiting, seen = [product.index], {product.index}
    while waiting and len(seen) < _MOST_CALLS:
        for call in trace.readers(waiting.pop(0)):
            if call.name in ("div", "true_divide") and call.is_users and len(call.reads) > 1:
                if call.reads[0].maker in seen and _has_below(trace, call, product, target):
                    return call
            elif call.name in _PASSED and call.index not in seen:
                seen.add(call.index)
                waiting.append(call.index)
    return None


def _has_below(trace: CallTrace, quotient: Call, product: Call, target: torch.Tensor) -> bool:
    mask = {_source(trace, read) for read in product.reads if read.key == id(target)}
    below = (trace.calls[index] for index in trace.ancestors(quotient.reads[1].maker) if index != product.index)
    reads = (read for call in below if call.name not in TRANSPARENT for read in call.reads)
    return any(_source(trace, read) in mask for read in reads)


def _source(trace: CallTrace, read: Read) -> int:
    """The tensor that a view or a cast shows."""
    while read.maker is not None and trace.calls[read.maker].name in TRANSPARENT and trace.calls[read.maker].reads:
        read = trace.calls[read.maker].reads[0]
    return read.key


def _last_of_function(trace: CallTrace, call: Call) -> Call:
    """The last call of the same function that a result goes through, one after the other."""
    for _ in range(8):
        following = [c for c in trace.readers(call.index) if c.place and call.place and c.place.code is call.place.code]
        if len(following) != 1 or following[0].name not in _PASSED:
            return call
        call = following[0]
    return call


def _sign_of_score(trace: CallTrace, tensor: torch.Tensor) -> int | None:
    """Whether a tensor rises (1) or falls (-1) with the `log_prob` of a distribution; None where it is none."""
    index, sign = trace.maker_of(tensor), 1
    for _ in range(_MOST_CALLS):
        call = trace.calls[index] if index is not None else None
        if call is None:
            return None
        source = trace.maker_of_read(call.reads[0]) if call.name == "gather" and call.reads else None
        if call.scored or (source is not None and source.name == "log_softmax"):
            return sign
        learned = [at for at, read in enumerate(call.reads) if read.requires_grad]
        is_known = call.name in _GATHERING or call.name in ("neg", "exp", "clamp", "clip")
        # The ratio of new and old probabilities: `exp(new - old)`.
        is_known |= call.name == "sub" and len(learned) == 1
        if not learned or not is_known:
            return None
        sign = -sign if call.name == "neg" or (call.name == "sub" and learned[0] == 1) else sign
        index = call.reads[learned[0]].maker
    return None


def is_game() -> bool:
    """Whether the script plays in an environment whose `step` gives a reward, and never turns its sign round."""
    has_step = False
    for file in user_files():
        tree = parsed(file)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _names(node.operand, _REWARDS):
                return False  # as PPO does, which takes the larger of `-adv * ratio` and `-adv * clipped`
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
                callee, target = node.value.func, node.targets[0]
                parts = target.elts if isinstance(target, ast.Tuple) else []
                is_step = isinstance(callee, ast.Attribute) and callee.attr == "step" and len(parts) >= 2
                has_step |= is_step and any(_names(part, _RETURNS) for part in parts)
    return has_step


def _names(node: ast.expr, words: frozenset[str]) -> bool:
    """A name with one of these words, and nothing computed with it."""
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return False
    return bool(tokens(ast.unparse(node)) & words)
