"""How far weights have come is known even of those that are gone when the script ends."""

from __future__ import annotations

import weakref

import torch

from torchmedic.probes.course.pulse import _Course


def test_the_last_look_at_weights_stands_when_they_are_gone() -> None:
    weights = torch.ones(3)
    course = _Course(chosen=[weakref.ref(weights)], start=[weights.clone()])
    weights += 1.0
    course.look_back(80)
    assert (course.moved, course.moved_in, course.shrunk) == (1.0, 80, 2.0)
    del weights
    course.look_back(150)
    assert (course.moved, course.moved_in, course.shrunk) == (1.0, 80, 2.0)
