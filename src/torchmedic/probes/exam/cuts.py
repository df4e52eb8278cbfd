"""The exam of the graph: weights that never get a gradient are looked for in one traced step."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

import torch

from torchmedic.facts import FrozenLastLayer, GraphCut, Location, UnusedTotal
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modes import is_compiled, take_off
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers, parameters_of
from torchmedic.probes.exam.freezes import FreezeExam
from torchmedic.probes.graph.complex_casts import lost_on_the_way
from torchmedic.probes.graph.cuts import Cut, Reading, Root, flat_functions
from torchmedic.probes.graph.plain_gradients import parts_of_plain_gradients, terms_of_plain_gradients
from torchmedic.probes.graph.straight_through import cancelled_estimators, cuts_at_straight_through
from torchmedic.probes.graph.strayed_terms import StrayWatch, strayed_terms
from torchmedic.probes.graph.terms_of_numbers import terms_of_numbers
from torchmedic.probes.graph.trace import StorageKey, storage_key
from torchmedic.probes.graph.traced_step import Borders, StepTrace
from torchmedic.probes.graph.zero_backwards import cuts_by_own_backward
from torchmedic.probes.objects.holdings import Fingerprint, Registered, registered
from torchmedic.probes.objects.lineage import Lineage
from torchmedic.probes.source.frames import user_location
from torchmedic.probes.source.sources import is_given_values
from torchmedic.record import Probe, Recorder

_STEPS_BEFORE_TRACE = 3
_MOST_TRACES = 3
_MOST_NAMES = 12


@late_dataclass()
class _Watched:
    """An optimizer in its first steps: which of its parameters have had no gradient yet."""

    steps: int = 0
    without: dict[int, torch.Tensor] = field(default_factory=dict)
    prints: dict[int, Fingerprint] = field(default_factory=dict)
    traced: bool = False

    def was_moved(self, parameter: torch.Tensor) -> bool:
        """Whether a parameter without a gradient has other values than at first: the script updates it by itself."""
        kept = self.prints.get(id(parameter))
        return kept is not None and not kept.fits(parameter)


@late_dataclass()
class _Scene:
    """A traced step with one of its losses, and who owns which weight."""

    trace: StepTrace
    borders: Borders
    root: Root
    owners: dict[int, Registered]
    roots: tuple[int | None, ...] = ()
    by_key: dict[StorageKey, Registered] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for owner in self.owners.values():
            parameter = owner.module._parameters[owner.attribute]
            if parameter is not None:
                self.by_key[storage_key(parameter)] = owner

    def reading(self, keys: set[StorageKey]) -> Reading:
        return Reading(self.trace, self.borders, self.root, keys, set(self.by_key))

    def parameter(self, key: StorageKey) -> torch.Tensor | None:
        owner = self.by_key.get(key)
        return owner.module._parameters[owner.attribute] if owner is not None else None

    def name(self, parameter: torch.Tensor) -> str:
        owner = self.owners.get(id(parameter))
        return owner.path if owner else f"a tensor of shape {list(parameter.shape)}"


class CutExam(Probe):
    """Counts gradients for three steps, traces the fourth, reads the trace."""

    name = "cut-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers, lineage: Lineage, freezes: FreezeExam) -> None:
        self._modules = modules
        self._optimizers = optimizers
        self._lineage = lineage
        self._freezes = freezes

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._watched: dict[int, _Watched] = {}
        self._traces = 0
        self._tracing: Any = None
        self._trace: StepTrace | None = None
        self._borders: Borders | None = None
        self._roots: list[Root] = []
        self._frozen: list[FrozenLastLayer] = []
        self._strays = StrayWatch()

    def remove(self) -> None:
        self._stop()

    def on_optimizer(self, optimizer: Any) -> None:
        self.recorder.wake(self)

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        for fact in self._strays.lost() if self._strays else ():
            self.recorder.observe(fact)
        if self._trace is None:
            return
        for tensor in roots:
            self._roots.append(
                Root(self._trace.maker_of(tensor), storage_key(tensor), tensor.is_leaf, tensor.grad_fn, user_location())
            )

    def on_gradient_of(self, inputs: tuple[Any, ...]) -> None:
        if self._trace is not None:
            self._trace.note_gradient_asked(inputs)

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        watched = self._watched.setdefault(id(optimizer), _Watched())
        if self._strays:
            self._strays.step(optimizer)
        if self._trace is not None:
            for root in self._roots:
                if not root.followed_by:
                    root.followed_by.add(id(optimizer))
        if watched.steps < _STEPS_BEFORE_TRACE and not self.recorder.clock_is_held:
            self._count(optimizer, watched)

    def on_step_done(self, optimizer: Any) -> None:
        watched = self._watched.get(id(optimizer))
        if watched is None or self.recorder.clock_is_held:
            return
        watched.steps += 1
        if self._tracing is optimizer:
            for root in self._roots:
                # A closure runs backward inside `step`.
                root.followed_by = root.followed_by or {id(optimizer)}
            self._stop()
            self._count(optimizer, watched)
            self._read(optimizer, watched)
            watched.without.clear()
            watched.prints.clear()
        elif watched.steps >= _STEPS_BEFORE_TRACE and not watched.traced and self._trace is None and self._may_trace():
            watched.traced = True
            self._start(optimizer)
        elif self._trace is None and not self._strays and self._is_over():
            self.recorder.rest(self)

    def _is_over(self) -> bool:
        seen = [self._watched.get(id(optimizer)) for optimizer in self._optimizers.alive()]
        past = all(w is not None and w.steps >= _STEPS_BEFORE_TRACE for w in seen)
        return past and (not self._may_trace() or all(w is not None and w.traced for w in seen))

    def on_crash(self, error: BaseException) -> None:
        self._stop()

    def on_finish(self) -> None:
        self._stop()
        for fact in self._frozen:
            self.recorder.observe(fact)

    def _may_trace(self) -> bool:
        return self._traces < _MOST_TRACES and not is_compiled()

    def _count(self, optimizer: Any, watched: _Watched) -> None:
        parameters = [p for p in parameters_of(optimizer) if p.requires_grad]
        if watched.steps == 0:
            watched.without = {id(p): p for p in parameters}
        alive = {id(p) for p in _with_gradient([p for p in parameters if id(p) in watched.without])}
        watched.without = {key: p for key, p in watched.without.items() if key not in alive}
        if watched.steps == 0:
            watched.prints = {key: Fingerprint.of(p) for key, p in watched.without.items()}

    def _start(self, optimizer: Any) -> None:
        self._traces += 1
        self._tracing = optimizer
        self._roots = []
        self._trace = StepTrace()
        self._borders = Borders(self._trace)
        self._trace.__enter__()
        self._borders.__enter__()  # type: ignore[no-untyped-call]

    def _stop(self) -> None:
        if self._tracing is None or self._trace is None or self._borders is None:
            return
        self._tracing = None
        try:
            take_off(self._borders)
        finally:
            self._trace.__exit__(None, None, None)

    def _read(self, optimizer: Any, watched: _Watched) -> None:
        trace, borders, roots = self._trace, self._borders, self._roots
        self._trace, self._borders, self._roots = None, None, []
        if trace is None or borders is None or trace.too_long:
            return
        owners = registered(self._modules.roots())
        for root in roots:
            if id(optimizer) in root.followed_by:
                scene = _Scene(trace, borders, root, owners, tuple(one.maker for one in roots))
                self._explain(optimizer, watched, scene)
                self._lost_terms(optimizer, scene)
                self._last_layer(optimizer, scene)
                for lost in lost_on_the_way(trace, trace.dropped, root.maker or 0, self.recorder.step):
                    self.recorder.observe(lost)
        trace.let_go()

    def _explain(self, optimizer: Any, watched: _Watched, scene: _Scene) -> None:
        by_key = {storage_key(p): p for p in watched.without.values()}
        # A gradient that is there and 0 came through the graph: nothing was cut, at most flattened. A bias that
        # cancels out of a difference has one, and is well.
        missing = {key for key, p in by_key.items() if p.grad is None and not watched.was_moved(p)}
        reading = scene.reading(missing)
        cuts = (cuts_at_straight_through(reading) or reading.cuts() or reading.exits()) if missing else []
        for total in reading.unused_totals()[:1] if missing and not cuts else ():
            self._note_unused_total(total, [by_key[key] for key in total.keys], scene)
        for cut in (cuts or self._flat(scene, by_key))[:4]:
            hit = [by_key[key] for key in cut.keys if key in by_key]
            if not hit:
                continue
            fresh = all(id(p) not in scene.owners or self._is_fresh(scene.owners[id(p)]) for p in hit)
            self.recorder.observe(self._cut_fact(optimizer, cut, hit, scene, fresh=fresh, whole_term=False))

    def _note_unused_total(self, total: Cut, hit: list[torch.Tensor], scene: _Scene) -> None:
        self.recorder.observe(
            UnusedTotal(
                parameters=tuple(sorted(scene.name(p) for p in hit))[:_MOST_NAMES],
                parameter_count=len(hit),
                total=total.where,
                expression=total.expression,
                backward=scene.root.place,
                step=self.recorder.step,
            )
        )

    def _is_fresh(self, owner: Registered) -> bool:
        """Drawn by its constructor: being in an optimizer that gives it no gradient has taught it nothing."""
        birth = self._modules.birth(owner.module)
        return birth is not None and not birth.pretrained and not self._lineage.was_loaded(owner.module)

    def _flat(self, scene: _Scene, by_key: dict[int, torch.Tensor]) -> list[Cut]:
        trace, root = scene.trace, scene.root
        if root.node is None or not by_key:
            return []
        wanted = {id(p) for p in by_key.values()}
        nodes = flat_functions(root.node, lambda node: id(getattr(node, "variable", None)) in wanted)
        cuts: dict[Location | None, Cut] = {}
        for node in nodes:
            index = trace.op_of(node._sequence_nr())
            op = trace.ops[index] if index is not None else None
            if op is not None and op.place is not None:
                where = op.place.location()
                cuts.setdefault(
                    where, Cut("zero", op.name, where, op.place.expression(), at=op.index, keys=set(by_key))
                )
        if cuts:
            return sorted(cuts.values(), key=lambda cut: cut.at)
        return cancelled_estimators(scene.reading(set(by_key))) or cuts_by_own_backward(
            trace, root.node, lambda node: id(getattr(node, "variable", None)) in wanted, set(by_key)
        )

    def _lost_terms(self, optimizer: Any, scene: _Scene) -> None:
        parameters = {storage_key(p): p for p in parameters_of(optimizer)}
        reading = scene.reading(set(parameters))
        whole = reading.lost_terms() or terms_of_plain_gradients(reading) or terms_of_numbers(reading, scene.roots)
        for cut in (whole or parts_of_plain_gradients(reading))[:1]:
            hit = [parameters[key] for key in cut.keys]
            fact = self._cut_fact(optimizer, cut, hit, scene, fresh=True, whole_term=True)
            self.recorder.observe(fact if whole else replace(fact, within_term=True))
        for strayed in strayed_terms(reading):
            hit = [parameters[key] for key in strayed.cut.keys]
            fact = self._cut_fact(optimizer, strayed.cut, hit, scene, fresh=True, whole_term=True)
            others = [p for p in map(scene.parameter, strayed.reached) if p is not None]
            self._strays.expect(replace(fact, strayed=tuple(sorted(map(scene.name, others)))[:_MOST_NAMES]), others)

    def _cut_fact(
        self, optimizer: Any, cut: Cut, hit: list[torch.Tensor], scene: _Scene, *, fresh: bool, whole_term: bool
    ) -> GraphCut:
        return GraphCut(
            how=cut.how,
            op=cut.op,
            parameters=tuple(sorted(scene.name(p) for p in hit))[:_MOST_NAMES],
            parameter_count=len(hit),
            where=cut.where,
            expression=cut.expression,
            callee=cut.callee,
            read=cut.read,
            rebuilt=cut.rebuilt,
            backward=scene.root.place,
            optimizer_built=self._optimizers.built_at(optimizer),
            loss_is_leaf=scene.root.is_leaf,
            whole_term=whole_term,
            fresh=fresh,
            watched_steps=_STEPS_BEFORE_TRACE + 1,
            step=self.recorder.step,
        )

    def _last_layer(self, optimizer: Any, scene: _Scene) -> None:
        """Whether the weights nearest to the loss are frozen as they were drawn, in a model whose others learn."""
        if self._frozen:
            return
        owners, by_key = scene.owners, scene.by_key
        above = [scene.trace.ops[index] for index in scene.reading(set()).above_root()]
        reading = [op for op in above if any(seen.key in by_key for seen in op.inputs)]
        if not reading:
            return
        last = max(reading, key=lambda op: op.index)
        owner = next(by_key[seen.key] for seen in last.inputs if seen.key in by_key)
        layer = owner.module
        learns = [p for g in optimizer.param_groups for p in g["params"] if p.requires_grad and id(p) in owners]
        same = [owners[id(p)].path for p in learns if owners[id(p)].root is owner.root]
        if (
            not same
            or any(p.requires_grad for p in layer.parameters(recurse=False))
            or not self._lineage.is_fresh(layer)
            or is_given_values(owner.path.split(".")[-2] if "." in owner.path else owner.path)
        ):
            return
        prefix = owner.path.rpartition(".")[0]
        self._frozen.append(
            FrozenLastLayer(
                parameters=tuple(f"{prefix}.{n}" if prefix else n for n, _ in layer.named_parameters(recurse=False)),
                layer=f"{type(layer).__name__}",
                frozen_at=tuple(dict.fromkeys(filter(None, map(self._freezes.frozen_at, layer.parameters())))),
                trainable=tuple(same[:8]),
                frozen_count=sum(not p.requires_grad for p in owner.root.parameters()),
                optimizer_built=self._optimizers.built_at(optimizer),
                step=self.recorder.step,
            )
        )


def _with_gradient(parameters: list[torch.Tensor]) -> list[torch.Tensor]:
    """Those whose gradient has a value other than 0; one synchronisation per device."""
    found: list[torch.Tensor] = []
    by_device: dict[torch.device, list[tuple[torch.Tensor, torch.Tensor]]] = {}
    for p in parameters:
        values = _values(p.grad) if p.grad is not None else None
        if values is not None:
            by_device.setdefault(values.device, []).append((p, torch.count_nonzero(values)))
        elif p.grad is not None:
            found.append(p)
    for pairs in by_device.values():
        counts = torch.stack([count for _, count in pairs]).tolist()
        found += [p for (p, _), count in zip(pairs, counts, strict=True) if count]
    return found


def _values(gradient: torch.Tensor) -> torch.Tensor | None:
    if gradient.layout == torch.sparse_coo:
        return gradient.detach()._values()
    return gradient.detach() if gradient.layout == torch.strided else None
