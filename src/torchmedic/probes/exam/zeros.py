"""The exam of zeros: weights that are 0, feed on what another zero weight makes, and so never get a gradient."""

from __future__ import annotations

import ast
import functools
import weakref
from dataclasses import field
from typing import Any

import torch
from torch import nn

from torchmedic.facts import Location, ZeroTimesZero
from torchmedic.late import late_dataclass
from torchmedic.probes.events.listening import tell_after
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers, parameters_of
from torchmedic.probes.events.patching import Patches
from torchmedic.probes.exam.beginnings import Beginnings
from torchmedic.probes.graph.graph_walk import graph, is_leaf_node
from torchmedic.probes.objects.holdings import Registered, registered
from torchmedic.probes.source.expressions import called_name
from torchmedic.probes.source.frames import file_of, is_user_file, location, user_location
from torchmedic.probes.source.sources import hung_at, user_nodes
from torchmedic.record import Probe, Recorder

_LEAST_LOOKS = 4
_MOST_ZEROED = 4_000
_MOST_WAITING = 400
# What makes 0 of 0: views, and a few functions of a gate.
_KEEPING = (
    *("TBackward", "Transpose", "Permute", "View", "Unsafe", "Expand", "Squeeze", "Unsqueeze", "Reshape", "Clone"),
    *("ToCopy", "Slice", "Select", "Alias", "Tanh", "Neg", "Mul", "Div"),
)
_FARTHEST = 60  # nodes between a weight and the one that feeds it


@late_dataclass()
class _Zero:
    """A parameter that was all 0 when its optimizer first stepped."""

    reference: weakref.ref[torch.Tensor]
    looks: int = 0
    has_left: bool = False

    def look(self) -> None:
        parameter = self.reference()
        if parameter is None or self.has_left or parameter.grad is None:
            return
        gradient = parameter.grad.coalesce().values() if parameter.grad.is_sparse else parameter.grad
        self.looks += 1
        self.has_left = bool((parameter != 0).any()) or bool((gradient != 0).any())


@late_dataclass()
class _Pair:
    """A zero weight, the zero weight that feeds it, and how often a gradient came to their product."""

    fed: _Zero
    feeding: _Zero
    names: tuple[str, str]
    zeroed: tuple[Location | None, Location | None]
    reached: list[int] = field(default_factory=list)


class ZeroExam(Probe):
    """Follows the zeros of each optimizer over its first steps; most leave 0 with the first update."""

    name = "zero-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._beginnings = Beginnings()
        self._known: set[int] = set()
        self._zeros: dict[int, _Zero] = {}
        self._pairs: dict[tuple[int, int], _Pair] = {}
        self._zeroed: dict[int, tuple[weakref.ref[torch.Tensor], Location | None]] = {}
        self._handles: list[Any] = []
        self._watch("zeros_", lambda args: True)
        self._watch("constant_", lambda args: len(args) < 2 or args[1] == 0)

    def remove(self) -> None:
        self._patches.restore()
        self._forget_hooks()

    def _watch(self, name: str, makes_zero: Any) -> None:
        """Learn which line of the user's makes a parameter 0."""

        def note(result: Any, args: tuple[Any, ...]) -> None:
            if isinstance(result, nn.Parameter) and makes_zero(args) and len(self._zeroed) < _MOST_ZEROED:
                self._zeroed[id(result)] = (weakref.ref(result), user_location())

        tell_after(self, self._patches, nn.init, name, note)

    def on_optimizer(self, optimizer: Any) -> None:
        self.recorder.wake(self)
        self._beginnings.add_optimizer(self.recorder.step)
        self._known.discard(id(optimizer))

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        zeros = {key for key, zero in self._zeros.items() if not zero.has_left and zero.reference() is not None}
        if len(zeros) < 2 or self.recorder.clock_is_held or not self._beginnings.is_looked_at(self.recorder.step):
            return
        for node, fed, feeding in _chains(tuple(t for t in roots if isinstance(t, torch.Tensor)), zeros):
            pair = self._pairs.get((fed, feeding)) or self._meet(fed, feeding)
            if pair is not None:
                self._handles.append(node.register_prehook(functools.partial(_note_arrival, pair, self.recorder.step)))

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        self._forget_hooks()

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.recorder.clock_is_held or not self._beginnings.is_looked_at(self.recorder.step):
            return
        held = [p for p in parameters_of(optimizer) if p.requires_grad]
        if id(optimizer) not in self._known:
            self._known.add(id(optimizer))
            self._meet_zeros(_all_zero(held))
        for parameter in held:
            zero = self._zeros.get(id(parameter))
            if zero is not None:
                zero.look()

    def on_step_done(self, optimizer: Any) -> None:
        step = self.recorder.step
        if not self._beginnings.is_looked_at(step):
            self.recorder.rest(self, until=self._beginnings.next_look(step))

    def on_finish(self) -> None:
        stuck = [pair for pair in self._pairs.values() if _is_stuck(pair)]
        if not stuck:
            return
        first = stuck[0]
        self.recorder.observe(
            ZeroTimesZero(
                step=max(first.reached),
                names=first.names,
                zeroed=first.zeroed,
                pairs=len(stuck),
                looks=len(first.reached),
            )
        )

    def _meet_zeros(self, parameters: list[torch.Tensor]) -> None:
        """A bias of 0 is as torch and most people make it."""
        owners = registered(self._modules.roots()) if parameters else {}
        for parameter in parameters:
            owner = owners.get(id(parameter))
            if owner is not None and "bias" not in owner.attribute:
                self._zeros[id(parameter)] = _Zero(weakref.ref(parameter))

    def _meet(self, fed: int, feeding: int) -> _Pair | None:
        owners = registered(self._modules.roots())
        found = [(owners.get(key), self._zeros[key]) for key in (feeding, fed)]
        names, zeroed = [], []
        for owner, zero in found:
            if owner is None:
                return None
            names.append(owner.path)
            zeroed.append(self._zeroed_at(zero.reference()) or self._written_at(owner))
        pair = _Pair(self._zeros[fed], self._zeros[feeding], (names[0], names[1]), (zeroed[0], zeroed[1]))
        self._pairs[fed, feeding] = pair
        return pair

    def _zeroed_at(self, parameter: torch.Tensor | None) -> Location | None:
        kept = self._zeroed.get(id(parameter))
        return kept[1] if kept is not None and kept[0]() is parameter else None

    def _written_at(self, owner: Registered) -> Location | None:
        """The line that makes a parameter of the user's own module, or that fills one of torch's layers."""
        if is_user_file(file_of(type(owner.module))):
            return hung_at(type(owner.module), owner.attribute)
        return _filled_at(owner.path) or self._modules.born_at(owner.module)

    def _forget_hooks(self) -> None:
        while self._handles:
            self._handles.pop().remove()


def _filled_at(path: str) -> Location | None:
    """`layer.weight.data.fill_(0)`: the line that fills a weight with 0 and names the layer, or the only one."""
    layer, _, attribute = path.rpartition(".")
    lines = [
        (location(file, node.lineno), ast.unparse(node.func.value))
        for file, node in user_nodes()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _fills_with_zero(node)
    ]
    about = [(where, text) for where, text in lines if attribute in text]
    named = [where for where, text in about if layer and layer.rpartition(".")[2] in text]
    return named[0] if named else about[0][0] if len(about) == 1 else None


def _fills_with_zero(node: ast.Call) -> bool:
    name = called_name(node)
    value = node.args[0] if node.args else None
    return name == "zero_" or (name == "fill_" and isinstance(value, ast.Constant) and value.value == 0)


def _note_arrival(pair: _Pair, step: int, gradients: tuple[Any, ...]) -> None:
    """A gradient that is not 0 has come to the product of two zeros."""
    if step not in pair.reached and any(g is not None and bool((g != 0).any()) for g in gradients):
        pair.reached.append(step)


def _is_stuck(pair: _Pair) -> bool:
    zeros = (pair.fed, pair.feeding)
    for zero in zeros:
        parameter = zero.reference()
        zero.has_left |= parameter is not None and bool((parameter != 0).any())
    looks = min(zero.looks for zero in zeros)
    return not any(zero.has_left for zero in zeros) and looks >= _LEAST_LOOKS and len(pair.reached) >= _LEAST_LOOKS - 1


def _all_zero(parameters: list[torch.Tensor]) -> list[torch.Tensor]:
    """Those without any other number; each device is asked once."""
    found: list[torch.Tensor] = []
    by_device: dict[torch.device, list[torch.Tensor]] = {}
    for parameter in parameters:
        if parameter.numel() and parameter.is_floating_point():
            by_device.setdefault(parameter.device, []).append(parameter)
    with torch.no_grad():
        for same in by_device.values():
            sizes = torch.stack([torch.linalg.vector_norm(p, ord=float("inf")).float() for p in same]).tolist()
            found += [parameter for parameter, size in zip(same, sizes, strict=True) if size == 0]
    return found


def _chains(roots: tuple[torch.Tensor, ...], zeros: set[int]) -> list[tuple[Any, int, int]]:
    """Nodes that read a zero weight and something made with another one: `(node, fed, feeding)`."""
    following: dict[Any, list[Any]] = {}
    for node, next_node in graph(roots):
        following.setdefault(node, []).append(next_node)
    found = []
    for node, parts in following.items():
        if len(parts) < 2:
            continue
        read = [_weight(part, following) for part in parts]
        for at, fed in enumerate(read):
            if fed not in zeros:
                continue
            others = [part for other, part in enumerate(parts) if other != at]
            feeding = _nearest(others, following, zeros - {fed})
            if fed is not None and feeding is not None:
                found.append((node, fed, feeding))
                break
    return found[:_MOST_WAITING]


def _weight(node: Any, following: dict[Any, list[Any]]) -> int | None:
    """The parameter that comes to a node by what keeps a 0 at 0."""
    for _ in range(6):
        if is_leaf_node(node):
            variable = getattr(node, "variable", None)
            return id(variable) if variable is not None else None
        if not node.name().startswith(_KEEPING) or len(following.get(node, ())) != 1:
            return None
        node = following[node][0]
    return None


def _nearest(nodes: list[Any], following: dict[Any, list[Any]], zeros: set[int]) -> int | None:
    waiting, seen = list(nodes), set(nodes)
    while waiting and len(seen) < _FARTHEST:
        node = waiting.pop(0)
        if is_leaf_node(node) and id(getattr(node, "variable", None)) in zeros:
            return id(node.variable)
        for part in following.get(node, ()):
            if part not in seen:
                seen.add(part)
                waiting.append(part)
    return None
