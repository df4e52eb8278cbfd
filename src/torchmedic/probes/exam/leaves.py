"""The exam of leaves: which tensors the gradient reaches that no optimizer holds, and why."""

from __future__ import annotations

import inspect
import weakref
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from torchmedic.facts import Location, OptimizerSeen, StrayLeaf
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Birth, Modules
from torchmedic.probes.events.optimizers import Optimizers, parameters_of
from torchmedic.probes.exam.beginnings import Beginnings
from torchmedic.probes.exam.replaced_lines import replaced_at
from torchmedic.probes.objects.held_names import name_in_frames
from torchmedic.probes.objects.holdings import Fingerprint, Hung, Registered, are_copies, hung, leaves_of, registered
from torchmedic.probes.objects.lineage import Lineage
from torchmedic.probes.source.argument_lines import argument_made_at
from torchmedic.probes.source.frames import is_user_file, location, user_location
from torchmedic.probes.source.sources import assigned_anywhere, hung_at
from torchmedic.record import Probe, Recorder

_LOOKS_PER_STEP = 4
_MOST_LEAVES = 4_000


@late_dataclass()
class _Sighting:
    """A leaf without an optimizer. The fact is complete but for what only the end of the run can tell."""

    fact: StrayLeaf
    reference: weakref.ref[torch.Tensor]
    print: Fingerprint
    seen_in: set[int]
    moved: bool = False
    optimized: bool = False

    def check(self) -> None:
        tensor = self.reference()
        if tensor is not None and not self.moved:
            self.moved = not self.print.fits(tensor)


@late_dataclass()
class _Stepping:
    """An optimizer as its first steps showed it; `looked_at` are those since the model last changed, after a look."""

    fact: OptimizerSeen
    steps: int = 1
    looked_at: int = 0


class LeafExam(Probe):
    """Walks the graph of a few early backward passes and keeps what it cannot find in any optimizer."""

    name = "leaf-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers, lineage: Lineage) -> None:
        self._modules = modules
        self._optimizers = optimizers
        self._lineage = lineage

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._sightings: dict[int, _Sighting] = {}
        self._anew: dict[Location | None, _Sighting] = {}
        self._orders: dict[int, int] = {}
        self._stepping: dict[int, _Stepping] = {}
        self._over: list[OptimizerSeen] = []
        self._beginnings = Beginnings()
        self._looks: dict[int, int] = {}
        self._inputs: set[int] = set()
        self._reached: dict[int, int] = {}
        self._has_looked = False
        self._frozen: dict[int, weakref.ref[torch.Tensor]] = {}

    def on_optimizer(self, optimizer: Any) -> None:
        """A new training may begin with it, in which the steps to look at are counted anew."""
        self.recorder.wake(self)
        self._beginnings.add_optimizer(self.recorder.step)
        if id(optimizer) in self._stepping:  # of one that is gone
            self._over.append(self._finished(id(optimizer)))
        self._orders[id(optimizer)] = self._modules.count()
        self._note_optimized(optimizer)

    def on_parameter(self, parameter: Any) -> None:
        """The model may be another one from here on: what the optimizers hold is looked at again."""
        if self.recorder.clock_is_held or not self._beginnings.add_change(self.recorder.step):
            return
        self.recorder.wake(self)
        self._lineage.asks_for_births = not self._beginnings.are_enough
        self._reached.clear()
        for seen in self._stepping.values():
            seen.looked_at = 0

    def _finished(self, key: int) -> OptimizerSeen:
        stepping = self._stepping.pop(key)
        reached = self._reached.pop(key, 0)
        return replace(stepping.fact, steps=stepping.steps, looked_at=stepping.looked_at, reached=reached)

    def on_gradient_of(self, inputs: tuple[Any, ...]) -> None:
        """`torch.autograd.grad` asked for the gradient of these: they are inputs, not weights."""
        if self.recorder.step < 16:
            self._inputs |= {id(tensor) for tensor in inputs}

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        step = self.recorder.step
        if self.recorder.clock_is_held or not self._beginnings.is_looked_at(step):
            return
        if self._looks.get(step, 0) >= _LOOKS_PER_STEP:
            return
        self._looks[step] = self._looks.get(step, 0) + 1
        self._has_looked = True
        if self._optimizers.alive():
            self._look(roots, step)

    def on_step_done(self, optimizer: Any) -> None:
        seen = self._stepping.get(id(optimizer))
        if seen is None:
            self._note_optimized(optimizer)
            self._lineage.note_step(optimizer)
            seen = self._stepping[id(optimizer)] = _Stepping(self._optimizer_fact(optimizer))
        else:
            seen.steps += 1
            if self._has_looked and not self._reached.get(id(optimizer)):
                seen.fact = self._with_orphans(seen.fact, optimizer)
        seen.looked_at += self._has_looked
        self._has_looked = False
        step = self.recorder.step
        if not self._beginnings.is_looked_at(step) and all(id(o) in self._stepping for o in self._optimizers.alive()):
            self.recorder.rest(self, until=self._beginnings.next_look(step))

    def on_finish(self) -> None:
        for optimizer in self._optimizers.alive():
            self._note_optimized(optimizer)
        for fact in (*self._over, *[self._finished(key) for key in list(self._stepping)]):
            self.recorder.observe(fact)
        for sighting in (*self._sightings.values(), *self._anew.values()):
            sighting.check()
            if not sighting.moved and not sighting.optimized:
                self.recorder.observe(replace(sighting.fact, steps=len(sighting.seen_in)))

    def _note_optimized(self, optimizer: Any) -> None:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                known = self._sightings.get(id(parameter))
                if known is not None and known.reference() is parameter:
                    known.optimized = True

    def _optimizer_fact(self, optimizer: Any) -> OptimizerSeen:
        parameters = parameters_of(optimizer)
        owners = registered(self._modules.roots())
        orphans = _orphans(parameters, owners)
        return OptimizerSeen(
            type=type(optimizer).__name__,
            built=self._optimizers.built_at(optimizer),
            stepped=user_location(),
            defined=_users_update(optimizer),
            steps=1,
            parameters=len(parameters),
            plain_tensors=sum(not isinstance(p, nn.Parameter) for p in parameters),
            orphans=len(orphans),
            orphan_shapes=tuple(tuple(p.shape) for p in orphans[:50]),
            copied=len(orphans) == len(parameters) and are_copies(orphans, self._modules.roots()),
            names=tuple(owners[id(p)].path for p in parameters if id(p) in owners)[:20],
            given=argument_made_at(self._optimizers.built_at(optimizer), type(optimizer).__name__, "params", 0),
            twin=self._twin_of(optimizer, {id(p) for p in parameters}),
        )

    def _with_orphans(self, fact: OptimizerSeen, optimizer: Any) -> OptimizerSeen:
        """What no module has any more, after a change of the model."""
        parameters = parameters_of(optimizer)
        orphans = _orphans(parameters, registered(self._modules.roots()))
        return replace(fact, orphans=len(orphans), orphan_shapes=tuple(tuple(p.shape) for p in orphans[:50]))

    def _twin_of(self, optimizer: Any, own: set[int]) -> Location | None:
        for other in self._optimizers.alive():
            if other is not optimizer and {id(p) for g in other.param_groups for p in g["params"]} == own:
                return self._optimizers.built_at(other)
        return None

    def _look(self, roots: tuple[Any, ...], step: int) -> None:
        leaves = leaves_of(roots)[:_MOST_LEAVES]
        held = self._held({id(leaf) for leaf in leaves})
        stray = [leaf for leaf in leaves if id(leaf) not in held and id(leaf) not in self._inputs]
        for sighting in self._sightings.values():
            sighting.check()
        fresh = [leaf for leaf in stray if not self._know(leaf, step)]
        if fresh:
            self._classify(fresh, step, held)
        if any(self._was_frozen(leaf) for leaf in fresh):
            self._beginnings.add_change(step)
        if step == 0:
            held_still = [p for root in self._modules.roots() for p in root.parameters() if not p.requires_grad]
            self._frozen = {id(p): weakref.ref(p) for p in held_still}

    def _was_frozen(self, leaf: torch.Tensor) -> bool:
        known = self._frozen.get(id(leaf))
        return known is not None and known() is leaf

    def _held(self, leaves: set[int]) -> set[int]:
        """What the optimizers hold; on the way, which of them hold anything that is in the graph."""
        held: set[int] = set()
        for optimizer in self._optimizers.alive():
            own = {id(p) for group in optimizer.param_groups for p in group["params"]}
            self._reached[id(optimizer)] = max(self._reached.get(id(optimizer), 0), len(own & leaves))
            held |= own
        return held

    def _know(self, leaf: torch.Tensor, step: int) -> bool:
        known = self._sightings.get(id(leaf))
        if known is None or known.reference() is not leaf:
            return False
        known.seen_in.add(step)
        return True

    def _classify(self, leaves: list[torch.Tensor], step: int, held: set[int]) -> None:
        owners = registered(self._modules.roots())
        hanging = _hanging(self._modules)
        for leaf in leaves:
            if self._lineage.was_trained(leaf):
                continue
            fact = self._fact(leaf, owners, hanging, held)
            if fact is None:
                continue
            if fact.place == "anew":
                self._note_anew(fact, leaf, step)
            else:
                self._sightings[id(leaf)] = _Sighting(fact, weakref.ref(leaf), Fingerprint.of(leaf), {step})

    def _note_anew(self, fact: StrayLeaf, leaf: torch.Tensor, step: int) -> None:
        known = self._anew.get(fact.born)
        if known is None:
            self._anew[fact.born] = _Sighting(fact, weakref.ref(leaf), Fingerprint.of(leaf), {step})
        elif known.reference() is not leaf:
            known.seen_in.add(step)

    def _fact(
        self, leaf: torch.Tensor, owners: dict[int, Registered], hanging: dict[int, Hung], held: set[int]
    ) -> StrayLeaf | None:
        owner = owners.get(id(leaf))
        if owner is not None:
            return self._registered_fact(leaf, owner, hanging, held)
        hook = hanging.get(id(leaf))
        if hook is not None:
            return _hung_fact(leaf, hook, hook.path, "")
        behind = _result_on_module(leaf, self._modules)
        if behind is not None:
            return _hung_fact(leaf, behind, behind.path, behind.path)
        if isinstance(leaf, nn.Parameter):
            return self._loose_fact(leaf)
        return None

    def _registered_fact(
        self, leaf: torch.Tensor, owner: Registered, hanging: dict[int, Hung], held: set[int]
    ) -> StrayLeaf:
        birth = self._modules.birth(owner.module)
        hook = hanging.get(id(owner.root))
        if hook is not None and not _is_below(hook.owner, owner.root):
            layer = type(owner.root).__name__
            return _hung_fact(leaf, hook, f"{hook.path}.{owner.path}", "", layer)
        root_birth = self._modules.birth(owner.root)
        since = min(self._orders.values(), default=0)
        own = self._lineage.late_birth(leaf)
        late = own is not None or (birth is not None and birth.order > since)
        if own is not None and (birth is None or birth.order <= since):
            birth = own  # of a new parameter in an old module
        return StrayLeaf(
            name=owner.path,
            place="anew" if root_birth is not None and root_birth.in_forward else "module",
            shape=tuple(leaf.shape),
            owner=type(owner.root).__name__,
            attribute=owner.attribute,
            layer=type(owner.module).__name__,
            born=replaced_at(self._modules, owner, since, own),
            called_at=self._called_at(birth) if late else None,
            replaced=None if late else assigned_anywhere(owner.attribute),
            after_optimizer=late,
            in_forward=birth is not None and birth.in_forward,
            fresh=self._lineage.is_fresh(owner.module),
            thawed=self._was_frozen(leaf),
            in_root_with_optimized=any(id(p) in held for p in owner.root.parameters()),
            siblings_with=self._optimizer_of_most(owner.root),
        )

    def _called_at(self, birth: Birth | None) -> Location | None:
        """The line that led to a birth in another function, of those that stand where an optimizer is built."""
        if birth is None or birth.pretrained:
            return None
        built = [self._optimizers.built_at(optimizer) for optimizer in self._optimizers.alive()]
        places = {(at.file, at.function) for at in built if at is not None}
        if birth.where is not None and (birth.where.file, birth.where.function) in places:
            return None
        return next((at for at in birth.callers if (at.file, at.function) in places), None)

    def _optimizer_of_most(self, root: nn.Module) -> Location | None:
        """Where the optimizer was built that holds the most of a model's parameters."""
        ids = {id(p) for p in root.parameters()}
        shares = [(sum(id(p) in ids for g in o.param_groups for p in g["params"]), o) for o in self._optimizers.alive()]
        most, optimizer = max(shares, key=lambda pair: pair[0], default=(0, None))
        return self._optimizers.built_at(optimizer) if most else None

    def _loose_fact(self, leaf: torch.Tensor) -> StrayLeaf | None:
        name, where = name_in_frames(leaf)
        born = self._lineage.born_at(leaf)
        if born is not None and self._lineage.was_born_in_forward(leaf):
            return StrayLeaf(name=name or "a parameter", place="anew", shape=tuple(leaf.shape), born=born)
        if not name:
            return None
        return StrayLeaf(name=name, place="variable", shape=tuple(leaf.shape), born=born or where)


def _orphans(parameters: list[torch.Tensor], owners: dict[int, Registered]) -> list[nn.Parameter]:
    return [p for p in parameters if id(p) not in owners and isinstance(p, nn.Parameter)]


def _hanging(modules: Modules) -> dict[int, Hung]:
    found: dict[int, Hung] = {}
    for thing, hook in hung(modules.alive()):
        found.setdefault(id(thing), hook)
    return found


def _result_on_module(leaf: torch.Tensor, modules: Modules) -> Hung | None:
    """The attribute that holds something computed from the leaf once, such as `self.w = nn.Parameter(…) * 0.1`."""
    for thing, hook in hung(modules.alive()):
        if isinstance(thing, torch.Tensor) and thing.grad_fn is not None and _is_shallow_result(thing, leaf):
            return hook
    return None


def _is_shallow_result(thing: torch.Tensor, leaf: torch.Tensor) -> bool:
    leaves = leaves_of([thing])
    return len(leaves) <= 2 and any(found is leaf for found in leaves)


def _hung_fact(leaf: torch.Tensor, hook: Hung, name: str, behind: str, layer: str = "") -> StrayLeaf:
    return StrayLeaf(
        name=name,
        place="hung",
        shape=tuple(leaf.shape),
        is_parameter=isinstance(leaf, nn.Parameter),
        owner=type(hook.owner).__name__,
        attribute=hook.attribute,
        container=hook.container,
        layer=layer,
        behind=behind,
        hung=hung_at(type(hook.owner), hook.attribute),
    )


def _is_below(owner: nn.Module, root: nn.Module) -> bool:
    """A child that keeps its parent in an attribute does not hang it up."""
    return any(module is owner for module in root.modules())


def _users_update(optimizer: Any) -> Location | None:
    """The `step` of an optimizer that the user wrote."""
    code = getattr(inspect.unwrap(type(optimizer).step), "__code__", None)
    if code is None or not is_user_file(code.co_filename):
        return None
    return location(code.co_filename, code.co_firstlineno, code.co_qualname)
