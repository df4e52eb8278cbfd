"""The exam of the data as it comes: the order of labels, and rows that are both trained on and tested on."""

from __future__ import annotations

import sys
import weakref
from dataclasses import replace
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as torch_module
from torch.utils.data import DistributedSampler, SequentialSampler

from torchmedic.facts import Location, SharedRows
from torchmedic.probes.data.cut_lines import cut_line
from torchmedic.probes.data.kin_rows import RowSample, kin_fact
from torchmedic.probes.data.label_fields import are_labels_set_aside
from torchmedic.probes.data.loader_passes import LoaderPass, being_learned, note_labels, pass_fact, weakly
from torchmedic.probes.data.splits import split_and_multiplication
from torchmedic.probes.data.trained_rows import TrainedRows
from torchmedic.probes.data.twins import Kinship, drawn_indices, kinship
from torchmedic.probes.events.loaders import Loaders
from torchmedic.probes.objects.rows import (
    fingerprints,
    is_held_out,
    names_of_dataset,
    names_of_loader,
    names_of_tensor,
    names_on_line,
    say_nothing,
)
from torchmedic.probes.source.frames import user_frame, user_location
from torchmedic.probes.source.grad_blocks import GradBlocks, Site
from torchmedic.record import Probe, Recorder, shielded

_MOST_BATCHES = 400
_MOST_CALLS = 12_000
_STEPS_LOOKED_AT = 20
_STEPS_COUNTED = 420
_MOST_EVALUATED = 40
_MOST_BLOCKS = 40
_LEAST_SHARED = 10
_ABOVE_CHANCE = 4


class DataExam(Probe):
    """Follows the first pass of every loader, and the first rows that go into every outermost module."""

    name = "data-exam"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._seen: dict[int, LoaderPass] = {}
        self._kin: dict[frozenset[int], Kinship] = {}
        self._current: LoaderPass | None = None
        self._handed = 0
        self._depth = 0
        self._calls = 0
        self._evaluated: dict[int, int] = {}
        self._trained: dict[int, TrainedRows] = {}
        self._last: tuple[nn.Module, torch.Tensor] | None = None
        self._shared: dict[tuple[int, tuple[str, ...]], tuple[set[int], set[int]]] = {}
        self._places: dict[tuple[int, tuple[str, ...]], Location | None] = {}
        self._handles: list[Any] = []
        self._look_from = 0
        self._blocks = 0
        self._shielded_hook = shielded(self)(self._hook)
        self._hook()
        GradBlocks.add(self)

    def remove(self) -> None:
        GradBlocks.remove(self)
        self._unhook()

    def _unhook(self) -> None:
        self._last = None
        while self._handles:
            self._handles.pop().remove()

    def _hook(self) -> None:
        """Hear of module calls. Every call pays for that, so it ends soon and begins again for each evaluation."""
        self._look_from = self.recorder.step
        self.recorder.wake(self)
        if not self._handles and self._calls <= _MOST_CALLS:
            self._depth = 0
            self._handles = [
                torch_module.register_module_forward_pre_hook(shielded(self)(self._enter)),
                torch_module.register_module_forward_hook(shielded(self)(self._leave), always_call=True),
            ]

    def on_mode(self, module: Any, training: bool) -> None:
        if not training:
            self._hook()

    def block_begins(self, site: Site) -> None:
        """Gradients are switched off: an evaluation may begin that calls no `eval()`, as of a model without modes."""
        if not self._handles and self._blocks < _MOST_BLOCKS and self.recorder.is_ours:
            self._blocks += 1
            self._shielded_hook()

    def block_ends(self) -> None:
        """What follows is looked at for some steps all the same."""

    # -- loaders -------------------------------------------------------------------------------------------------

    def on_batch(self, batch: Any, iterator: Any) -> None:
        sampler = iterator._index_sampler
        loader = self._known(sampler, iterator)
        if loader is None:
            if len(self._seen) > 60:
                return
            loader = self._first_batch(iterator, sys._getframe(1))
            for other in self._seen.values():
                self._kin[_pair(loader, other)] = kinship(loader.dataset(), other.dataset())
            self._seen[id(sampler)] = loader
        if loader is not self._current:
            self._current = loader
            self._hook()
        self._handed += 1
        loader.hand_out(iterator, self._handed)
        if loader.iterator() is iterator and loader.batches < _MOST_BATCHES:
            note_labels(loader, batch)

    def on_end(self, iterator: Any) -> None:
        loader = self._seen.get(id(iterator._index_sampler))
        if loader is not None and loader.latest() is iterator:
            loader.is_over = True

    def _known(self, sampler: Any, iterator: Any) -> LoaderPass | None:
        """Loaders that are made on the spot come and go, and the next one may get the `id` of the last."""
        loader = self._seen.get(id(sampler))
        if loader is None or loader.sampler() is sampler or not isinstance(loader.sampler, weakref.ref):
            return loader
        built = self._loaders._started.get(iterator, {}).get("loader_built")
        passes = (each for each in self._seen.values() if each.built == built)
        again = next((each for each in passes if each.dataset() is iterator._dataset), None)
        if again is None:
            self._seen[-len(self._seen)] = self._seen.pop(id(sampler))
        return again

    def _first_batch(self, iterator: Any, frame: FrameType) -> LoaderPass:
        started = self._loaders._started.get(iterator, {})
        sampler = getattr(iterator._index_sampler, "sampler", iterator._index_sampler)
        return LoaderPass(
            names=names_of_loader(iterator._index_sampler, frame),
            data_names=tuple(n for n in names_of_dataset(iterator._dataset, frame) if not say_nothing((n,))),
            sampler=weakly(iterator._index_sampler),
            built=started.get("loader_built"),
            dataset=weakly(iterator._dataset),
            in_order=isinstance(sampler, SequentialSampler),
            indices=drawn_indices(iterator._dataset, sampler),
            iterator=weakref.ref(iterator),
            latest=weakref.ref(iterator),
            asked_for=started.get("batch_size") or 0,
            share=(sampler.rank, sampler.num_replicas) if isinstance(sampler, DistributedSampler) else None,
            has_labels=not are_labels_set_aside(user_frame(frame)),
        )

    def on_step_done(self, optimizer: Any) -> None:
        if self.recorder.clock_is_held:
            return
        self._rest_when_seen_enough()
        loader = being_learned(self._seen.values(), self._current)
        if loader is None:
            return
        loader.stepped += 1
        if loader.stepped_at is None and is_held_out(loader.names):
            loader.stepped_at = user_location()

    def _rest_when_seen_enough(self) -> None:
        step, loader = self.recorder.step, self._current
        is_late = step > _STEPS_COUNTED
        if step >= self._look_from + _STEPS_LOOKED_AT and all(is_late or t.is_full for t in self._trained.values()):
            self._unhook()
            if loader is None or (is_late and loader.stepped_at is None):
                self.recorder.rest(self)

    # -- rows ----------------------------------------------------------------------------------------------------

    def _enter(self, module: nn.Module, args: Any) -> None:
        self._depth += 1
        if self._depth == 1 and self.recorder.is_ours:
            self._call(module, args)

    def _leave(self, _module: nn.Module, _args: Any, _result: Any) -> None:
        self._depth = max(0, self._depth - 1)

    def _call(self, module: nn.Module, args: Any) -> None:
        if self._current is not None:
            self._current.models.add(id(module))
        rows = next((a for a in args if isinstance(a, torch.Tensor)), None)
        if rows is None or rows.requires_grad or torch._C._functorch.is_functorch_wrapped_tensor(rows):
            return
        self._calls += 1
        if self._calls > _MOST_CALLS:
            self._unhook()
        elif torch.is_grad_enabled() and module.training:
            self._last = (module, rows)
        else:
            self._evaluate(module, rows)

    def on_optimizer(self, optimizer: Any) -> None:
        for kept in self._trained.values():
            kept.is_doubtful = True
        self._hook()

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        learned = being_learned(self._seen.values(), self._current)
        if learned is not None:
            learned.trained += 1
        if self._last is None:
            return
        (module, rows), self._last = self._last, None
        kept = self._trained.get(id(module))
        if kept is None or kept.module() is not module:
            if len(self._trained) > 20:
                return
            kept = self._trained[id(module)] = TrainedRows(weakref.ref(module))
        kept.begin_anew()
        if not kept.is_full:
            kept.take(rows)

    def _evaluate(self, module: nn.Module, rows: torch.Tensor) -> None:
        """Count how many of the rows this very model was trained on before."""
        kept = self._trained.get(id(module))
        if kept is None or kept.module() is not module or not kept.rows:
            return
        self._evaluated[id(module)] = self._evaluated.get(id(module), 0) + 1
        if self._evaluated[id(module)] > _MOST_EVALUATED:
            return
        frame = sys._getframe(1)
        names = names_of_tensor(rows, frame)
        if self._current is not None and self._current.latest() is not None and not is_held_out(names):
            # Rows of the training's own loader are looked at for a score on the training.
            names = _names_beside(self._current, names) if not self._current.trained else ()
        elif not is_held_out(names) and not kept.is_whole:
            names += names_on_line(frame)
        if not is_held_out(names):
            return
        found = fingerprints(rows)
        shared, looked_at = self._shared.setdefault((id(module), names), (set(), set()))
        shared.update(f for f in found if f in kept.rows)
        looked_at.update(found)
        kept.count_halves(names, rows)
        kept.tested.setdefault(names, RowSample()).take_some(rows)
        self._places.setdefault((id(module), names), user_location(frame))

    # -- the end -------------------------------------------------------------------------------------------------

    def on_finish(self) -> None:
        for loader in self._seen.values():
            self.recorder.observe(pass_fact(loader, self.recorder.step))
        told = self._tell_shared_loaders()
        if not told and not self._tell_shared_rows():
            self._tell_kin_rows()

    def _tell_kin_rows(self) -> None:
        for key, kept in self._trained.items():
            for names, tested in kept.tested.items():
                fact = kin_fact(kept.sample, tested, self.recorder.step, names[-1], self._places[key, names])
                if fact is not None:
                    self.recorder.observe(fact)
                    return

    def _tell_shared_loaders(self) -> bool:
        told = False
        trained = [loader for loader in self._seen.values() if loader.trained > loader.batches / 2]
        for held_out in self._seen.values():
            if held_out in trained or not is_held_out(held_out.names):
                continue
            for other in trained:
                shared = _shared(other, held_out, self._kin.get(_pair(other, held_out)))
                if shared is not None and other.models & held_out.models and not _came_first(held_out, other):
                    self.recorder.observe(shared)
                    told = True
        return told

    def _tell_shared_rows(self) -> bool:
        for key, (rows, all_rows) in self._shared.items():
            shared, total = len(rows), len(all_rows)
            is_much = shared >= max(_LEAST_SHARED, 0.05 * total)
            if is_much and shared > _ABOVE_CHANCE * self._trained[key[0]].expected_by_chance(key[1], total):
                split, multiplied = split_and_multiplication()
                fact = SharedRows(
                    step=self.recorder.step,
                    how="rows",
                    names=key[1],
                    train_names=(),
                    shared=shared,
                    looked_at=total,
                    split=split,
                    multiplied=multiplied,
                    evaluated=self._places.get(key),
                )
                self.recorder.observe(self._with_loaders(fact))
                return True
        return False

    def _with_loaders(self, fact: SharedRows) -> SharedRows:
        """What the two loaders tell about rows that they share: where they were built, and why it may be."""
        held_out = next((one for one in self._seen.values() if one.names and one.names[-1] in fact.names), None)
        trained = next((one for one in self._seen.values() if one.trained and one is not held_out), None)
        if held_out is None or trained is None:
            return fact
        kin = self._kin.get(_pair(held_out, trained))
        switch = kin.switch if kin is not None else None
        return replace(
            fact,
            where=held_out.built,
            train_built=trained.built,
            train_names=trained.names,
            same_memory=kin is not None and kin.same_memory,
            switch=switch[0] if switch else "",
            switch_at=switch[1] if switch else None,
        )


def _came_first(held_out: LoaderPass, trained: LoaderPass) -> bool:
    return held_out.batches == 0 or trained.batches == 0


def _pair(first: LoaderPass, second: LoaderPass) -> frozenset[int]:
    return frozenset((id(first), id(second)))


def _shared(trained: LoaderPass, held_out: LoaderPass, kin: Kinship | None) -> SharedRows | None:
    if kin is None or not kin.same_base:
        return None
    a = trained.indices if trained.indices is not None else set(range(kin.length))
    b = held_out.indices if held_out.indices is not None else set(range(kin.length))
    common = len(a & b)
    if common < _LEAST_SHARED or common < 0.05 * len(b):
        return None
    whole = kin.same_whole and common == len(b)
    return SharedRows(
        step=None,
        how="dataset" if whole else "indices",
        names=held_out.names,
        train_names=trained.names,
        shared=common,
        looked_at=len(b),
        dataset=kin.kind,
        where=held_out.built,
        train_built=trained.built,
        split=None if whole else cut_line(held_out.built),
    )


def _names_beside(loader: LoaderPass, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of rows with those of their loader and, where these say nothing, of its data set."""
    names += loader.names
    return names + loader.data_names if say_nothing(names) else names
