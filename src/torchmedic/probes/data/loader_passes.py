"""One loader in its first pass: the order and the kinds of its labels, and the models that its batches went to."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any

import torch

from torchmedic.facts import LoaderSeen, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.data.label_fields import labels_of
from torchmedic.probes.objects.values import type_name


@late_dataclass()
class LoaderPass:
    """One loader in its first pass, `iterator`; `latest` is the newest. `models` are who its batches went to.

    `data_names` are those names of its data set that say what the data are for. `handed` counts the batches of all
    loaders, so that it tells whose came later.
    """

    names: tuple[str, ...]
    data_names: tuple[str, ...]
    sampler: Callable[[], Any]
    built: Location | None
    dataset: Any
    in_order: bool
    indices: set[int] | None
    iterator: Any
    latest: Any
    asked_for: int
    share: tuple[int, int] | None = None
    trained: int = 0
    stepped: int = 0
    stepped_at: Location | None = None
    batches: int = 0
    samples: int = 0
    batch_size: int = 0
    single_class: int = 0
    rises: bool = True
    falls: bool = True
    last: float | None = None
    labels: set[float] = field(default_factory=set)
    firsts: list[str] = field(default_factory=list)
    label_name: str = ""
    models: set[int] = field(default_factory=set)
    has_labels: bool = True
    handed: int = 0
    is_over: bool = False
    without_gradient: bool = False

    def hand_out(self, iterator: Any, handed: int) -> None:
        if self.latest() is not iterator:
            self.latest = weakref.ref(iterator)
        self.handed, self.is_over, self.without_gradient = handed, False, not torch.is_grad_enabled()


def being_learned(loaders: Iterable[LoaderPass], latest: LoaderPass | None) -> LoaderPass | None:
    """The loader whose batch a step learns from.

    Not always the `latest` that was asked: an evaluation in the middle of an epoch has run through a loader of its own
    since, and the loop goes on with the batch that it had before.
    """
    if latest is None:
        return None
    under_way = [each for each in loaders if each.handed and not each.is_over and not each.without_gradient]
    # Of `next(iter(loader))` nothing is left by now, nor of a loop that was left early.
    held = [each for each in under_way if each.latest() is not None]
    return max(held or under_way, key=lambda each: each.handed, default=latest)


def weakly(thing: Any) -> Callable[[], Any]:
    """A weak reference; a list, which cannot have one, is forgotten."""
    try:
        return weakref.ref(thing)
    except TypeError:
        return lambda: None


def note_labels(loader: LoaderPass, batch: Any) -> None:
    name, labels = labels_of(batch)
    loader.batches += 1
    if labels is None or not loader.has_labels:
        loader.has_labels = False
        return
    flat = labels.detach().flatten().cpu()
    whole = not flat.is_floating_point() or bool((flat == flat.round()).all())
    if labels.ndim > 2 or flat.numel() != labels.shape[0] or not whole or flat.is_complex():
        loader.has_labels = False
        return
    values = [float(v) for v in flat.tolist()]
    loader.label_name = name
    loader.samples += len(values)
    loader.batch_size = max(loader.batch_size, len(values))
    loader.single_class += len(set(values)) == 1
    loader.labels.update(values)
    run = values if loader.last is None else [loader.last, *values]
    loader.rises &= all(a <= b for a, b in itertools.pairwise(run))
    loader.falls &= all(a >= b for a, b in itertools.pairwise(run))
    loader.last = values[-1]
    if len(loader.firsts) < 12:
        loader.firsts.append(f"{min(values):g}" if len(set(values)) == 1 else f"{min(values):g}-{max(values):g}")


def pass_fact(loader: LoaderPass, step: int) -> LoaderSeen:
    dataset = loader.dataset()
    return LoaderSeen(
        step=step,
        names=loader.names,
        built=loader.built,
        dataset=type_name(dataset) if dataset is not None else "",
        in_order=loader.in_order,
        trained=loader.trained,
        batches=loader.batches,
        batch_size=loader.batch_size,
        asked_for=loader.asked_for,
        samples=loader.samples,
        labels=len(loader.labels) if loader.has_labels else 0,
        single_class=loader.single_class,
        is_sorted=loader.has_labels and (loader.rises or loader.falls),
        label_name=loader.label_name,
        first_labels=tuple(loader.firsts),
        stepped=loader.stepped,
        stepped_at=loader.stepped_at,
        share=loader.share,
    )
