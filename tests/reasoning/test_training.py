"""Rules about training on hand-made runs."""

from __future__ import annotations

from torchmedic.facts import GradientsByDepth, Run
from torchmedic.rules.training.vanishing_gradients import VanishingGradients

_STEPS = (2, 10, 30)


def _codes(sizes: tuple[float, ...]) -> list[str]:
    seen = GradientsByDepth(
        step=40,
        steps=_STEPS,
        names=tuple(f"layers.{i}.weight" for i in range(len(sizes))),
        sizes=tuple((size,) * len(_STEPS) for size in sizes),
        built=(None,) * len(sizes),
    )
    return [d.code for d in VanishingGradients().check(Run(observations=(seen,)))]


def test_gradients_that_fade_from_layer_to_layer_are_told_of() -> None:
    assert _codes((1e-10, 1e-8, 1e-6, 1e-4, 1e-2)) == ["TRN005"]


def test_one_faint_layer_beside_layers_that_do_not_fade_is_another_trouble() -> None:
    assert _codes((1e-11, 5e-4, 2e-3, 7e-3, 4e-2)) == []
