"""A batch so small that the steps keep the loss up by their noise, or so large that most of it changes nothing."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from torchmedic.facts import LoaderSeen, Run, StridesSeen, TrainingCourse
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.training._course import is_simple, rate_line
from torchmedic.rules.training._strides import (
    RELATED,
    Standstill,
    halves,
    made_by_steps,
    overshoots,
    standstill,
    training_loader,
)
from torchmedic.rules.wiring._telling import also

_NOISE = 0.15  # the most that gradients of neighbouring steps may agree
_LEAST_SHARE = 1 / 3  # of the loss that the steps themselves keep up
_SMALL_BATCH = 16
_LARGE_BATCH = 512
_LEAST_BATCHES = 4
_LEAST_LOOKS = 8
_SAME = 0.95
_STILL_FALLING = 0.1


class BatchUnfitForItsNoise(Rule):
    """The gradients of neighbouring batches have nothing in common at a standstill, or all in common throughout."""

    code = "TRN072"
    name = "batch-unfit-for-its-noise"
    severity = "hint"
    symptoms = (Symptom.LOSS_NOISY, Symptom.LOSS_FLAT, Symptom.SLOW_STEP)
    tell_apart = "gradients of neighbouring batches have nothing in common while the loss stands still, or everything"
    needs = (TrainingCourse, StridesSeen)
    gives_way = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        still = standstill(run)
        if still is not None and still.is_steady and _is_noise(still.looks):
            shares = [made_by_steps(still, half) for half in halves(still.looks)]
            if min(shares) >= _LEAST_SHARE:
                yield self._too_small(run, still, statistics.fmean(shares))
        course, seen, loader = run.last(TrainingCourse), run.last(StridesSeen), training_loader(run)
        if course is not None and seen is not None and loader is not None and _is_too_large(course, seen, loader):
            yield self._too_large(course, seen, loader)

    def _too_small(self, run: Run, still: Standstill, share: float) -> Diagnosis:
        course, looks, loader = still.course, still.looks, training_loader(run)
        size, built = (loader.asked_for, loader.built) if loader is not None else (0, None)
        where = built if 0 < size <= _SMALL_BATCH else rate_line(course)
        rate = looks.rates[-1]
        return self.diagnose(
            headline=f"the steps are noise {still.since}: neighbouring gradients agree by "
            f"{max(0.0, statistics.fmean(looks.agree)):.2f}",
            confidence="likely",
            step=still.step,
            where=where,
            label=f"batches of {size}, with lr={rate:g}" if size else f"lr={rate:g}",
            also=also(
                (rate_line(course), "the rate that goes with it"),
                (built if size else None, f"batches of {size}"),
                where=where,
            ),
            culprit=Culprit(phase="optimizer", op=course.optimizer),
            evidence=(
                f"in {len(looks.steps)} looks the gradients of neighbouring steps have a cosine of "
                f"{statistics.fmean(looks.agree):+.2f} on average, where 1 is one direction and 0 is chance",
                f"the loss is {still.level:.3g} and has not fallen for {still.updates} updates; about "
                f"{100 * min(1.0, share):.0f} % of it is what strides of this length keep up on such slopes",
                f"an update changes the weights by {statistics.median(looks.strides):.0e} of their size",
            ),
            remedies=(
                Remedy(title=f"try lr={rate / 10:.0e}, or let the rate fall towards the end of the run"),
                Remedy(title="or use batches 8 times as large, or gather gradients over 8 of them"),
            ),
        )

    def _too_large(self, course: TrainingCourse, seen: StridesSeen, loader: LoaderSeen) -> Diagnosis:
        agree = min(statistics.median(half.agree) for half in halves(seen))
        enough = _rounded(4 * loader.asked_for * (1 - agree) / agree)
        return self.diagnose(
            headline=f"batches of {loader.asked_for} give all the same gradient: neighbours agree by {agree:.3f}",
            confidence="likely",
            step=seen.steps[0],
            where=loader.built,
            label=f"{loader.batches} updates an epoch",
            also=also((rate_line(course), "the rate that goes with it"), where=loader.built),
            culprit=Culprit(phase="optimizer", op=course.optimizer),
            evidence=(
                f"in {len(seen.steps)} looks from step {seen.steps[0]} to {seen.steps[-1]} the gradients of "
                f"neighbouring batches had a cosine of {agree:.3f} in the middle: noise asks for batches of about "
                f"{_rounded(loader.asked_for * (1 - agree) / agree)}",
                f"the loss was still falling when the run ended after {course.steps} updates, from "
                f"{course.parts[2 * len(course.parts) // 3]:.3g} to {course.parts[-1]:.3g} in its last third",
            ),
            remedies=(
                Remedy(
                    title=f"try batches of {enough}: as many epochs then make {loader.asked_for // enough} times the "
                    f"updates"
                ),
            ),
        )


def _is_noise(looks: StridesSeen) -> bool:
    """Neighbours agree no more than by chance, and an update does not lead to the other wall of the valley."""
    chance = abs(statistics.fmean(looks.agree)) <= _NOISE and statistics.median(map(abs, looks.agree)) < RELATED
    return chance and not overshoots(looks)


def _is_too_large(course: TrainingCourse, seen: StridesSeen, loader: LoaderSeen) -> bool:
    """Other samples in each batch, the same direction from the first to the last, and more to gain by more updates."""
    if not is_simple(course) or loader.in_order or loader.asked_for < _LARGE_BATCH or loader.batches < _LEAST_BATCHES:
        return False
    if len(seen.steps) < _LEAST_LOOKS or len(course.parts) < _LEAST_LOOKS:
        return False
    last_third = course.parts[2 * len(course.parts) // 3 :]
    falling = last_third[-1] < (1 - _STILL_FALLING) * last_third[0]
    return falling and all(statistics.median(half.agree) >= _SAME for half in halves(seen))


def _rounded(samples: float) -> int:
    """A power of two that is not below."""
    size = 1
    while size < samples:
        size *= 2
    return size
