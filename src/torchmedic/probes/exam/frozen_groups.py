"""The exam of frozen parameters in optimizers: embeddings frozen by default, and what a one-way switch froze."""

from __future__ import annotations

import ast
import weakref
from typing import Any

import torch
from torch import nn

from torchmedic.facts import FrozenGroup, Location, NeverThawed
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.exam.one_way_switches import one_way_switches
from torchmedic.probes.objects.holdings import Registered, registered
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.sources import file_at, thaws
from torchmedic.record import Probe, Recorder, next_of

_LOOKS = (1, 10, 100, 1_000, 10_000)
_CONSTRUCTOR = "from_pretrained"
_MOST_NAMES = 4


@late_dataclass()
class _Sighting:
    """A group that was frozen at the first step of its optimizer, and is looked at again."""

    fact: FrozenGroup
    parameters: list[weakref.ref[torch.Tensor]]
    was_thawed: bool = False

    def check(self) -> None:
        self.was_thawed |= any(
            p is not None and p.requires_grad for p in (reference() for reference in self.parameters)
        )


class FrozenGroupExam(Probe):
    """Looks at the groups of an optimizer after its first step; the source tells whether the freezing was asked for."""

    name = "frozen-group-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._seen: list[_Sighting] = []
        self._looked_at: set[int] = set()
        self._frozen: tuple[str, ...] = ()
        self._count = 0

    def on_optimizer(self, optimizer: Any) -> None:
        self._looked_at.discard(id(optimizer))
        self.recorder.wake(self)

    def on_step_done(self, optimizer: Any) -> None:
        if id(optimizer) not in self._looked_at:
            self._looked_at.add(id(optimizer))
            self._look(optimizer)
        for sighting in self._seen:
            sighting.check()
        if all(id(other) in self._looked_at for other in self._optimizers.alive()):
            step = self.recorder.step
            self.recorder.rest(self, max(step + 1, next_of(_LOOKS, step)))

    def on_finish(self) -> None:
        for sighting in self._seen:
            sighting.check()
        for switch in one_way_switches() if self._count else ():
            self.recorder.observe(
                NeverThawed(
                    step=self.recorder.step,
                    parameters=self._frozen,
                    count=self._count,
                    function=switch.function,
                    subject=switch.subject,
                    where=switch.where,
                    frozen=switch.frozen,
                    thawed=switch.thawed,
                )
            )
        left = [sighting.fact for sighting in self._seen if not sighting.was_thawed]
        if left and not thaws():
            for fact in left:
                self.recorder.observe(fact)

    def _look(self, optimizer: Any) -> None:
        frozen = [group for group in optimizer.param_groups if not any(p.requires_grad for p in group["params"])]
        still = [p for group in optimizer.param_groups for p in group["params"] if not p.requires_grad]
        owners = registered(self._modules.roots()) if still else {}
        if still:
            self._count = len(still)
            self._frozen = tuple(owners[id(p)].path for p in still if id(p) in owners)[:_MOST_NAMES]
        for group in frozen:
            fact = self._fact(optimizer, group, owners) if group["params"] else None
            if fact is not None:
                self._seen.append(_Sighting(fact, [weakref.ref(p) for p in group["params"]]))

    def _fact(self, optimizer: Any, group: dict[str, Any], owners: dict[int, Registered]) -> FrozenGroup | None:
        holders = [owners.get(id(p)) for p in group["params"]]
        made = [self._frozen_by_default(holder.module) if holder is not None else None for holder in holders]
        if made[0] is None or None in made:
            return None
        where, expression = made[0]
        rate = group.get("lr")
        return FrozenGroup(
            step=self.recorder.step,
            parameters=tuple(holder.path for holder in holders if holder is not None),
            where=where,
            expression=expression,
            optimizer=type(optimizer).__name__,
            built=self._optimizers.built_at(optimizer),
            lr=float(rate) if rate is not None else None,
        )

    def _frozen_by_default(self, module: nn.Module) -> tuple[Location, str] | None:
        """The line that built an embedding from given vectors without a word about freezing them."""
        where = self._modules.born_at(module)
        if where is None or not isinstance(module, (nn.Embedding, nn.EmbeddingBag)):
            return None
        for node in ast.walk(parsed(file_at(where)) or ast.Module([], [])):
            on_line = isinstance(node, ast.Call) and node.lineno <= where.line <= (node.end_lineno or 0)
            if on_line and isinstance(node, ast.Call) and called_name(node) == _CONSTRUCTOR:
                is_told = len(node.args) > 1 or any(word.arg in ("freeze", None) for word in node.keywords)
                return None if is_told else (where, ast.unparse(node))
        return None
