"""How far a schedule reaches is learned by asking its function ahead, where that changes nothing."""

import math

import pytest
import torch
from torch.optim import lr_scheduler

from torchmedic.probes.exam.horizons import reach_of
from torchmedic.probes.source.asking import may_be_asked


def _optimizer():
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)


def _warm_cosine(step):
    return (step + 1) / 40 if step < 40 else 0.5 * (1 + math.cos(math.pi * min(1.0, (step - 40) / 360)))


def _open_cosine(step):
    return 0.5 * (1 + math.cos(math.pi * step / 200))


class _Counting:
    def __init__(self):
        self.asked = 0

    def factor(self, step):
        self.asked += 1
        return 1 / self.asked


@pytest.mark.parametrize(
    ("factor", "reach"),
    [
        (_warm_cosine, (400, 39)),
        (_open_cosine, (200, 0)),
        (lambda step: max(0.1, 1 - step / 100), (90, 0)),
        (lambda step: min((step + 1) ** -0.5, (step + 1) * 400**-1.5), (0, 399)),
        (lambda step: 0.95**step, (0, 0)),
        (lambda step: 0.1 ** (step // 30), (0, 0)),
        (lambda step: 1.0, (0, 0)),
    ],
)
def test_function_tells_its_length_and_its_peak(factor, reach):
    assert reach_of(lr_scheduler.LambdaLR(_optimizer(), factor)) == reach


def test_parts_in_turn_are_added_up():
    optimizer = _optimizer()
    parts = [lr_scheduler.LinearLR(optimizer, 0.01, total_iters=50), lr_scheduler.CosineAnnealingLR(optimizer, 450)]
    assert reach_of(lr_scheduler.SequentialLR(optimizer, parts, [50])) == (500, 50)


def test_function_that_keeps_count_is_not_asked():
    counting, seen = _Counting(), []
    schedulers = [
        lr_scheduler.LambdaLR(_optimizer(), factor)
        for factor in (counting.factor, lambda step: seen.append(step) or 1.0, lambda step: torch.rand(1).item())
    ]
    before = counting.asked, len(seen)
    assert [reach_of(scheduler) for scheduler in schedulers] == [(0, 0)] * 3
    assert (counting.asked, len(seen)) == before


def test_method_that_only_reads_may_be_asked():
    class Plan:
        total = 10

        def factor(self, step):
            return self.part(step)

        def part(self, step):
            return max(0, self.total - step)

    assert may_be_asked(Plan().factor)
    assert not may_be_asked(iter([1.0]).__next__)


def test_model_that_is_held_for_a_setting_may_be_asked():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.warm = 20

        def schedule(self):
            return lr_scheduler.LambdaLR(_optimizer(), lambda step: min(1.0, (step + 1) / self.warm))

    assert reach_of(Net().schedule()) == (19, 19)


def test_loops_inside_of_an_expression_are_read_on_every_python():
    # Up to Python 3.11 a comprehension is code of its own; since then its variables are the function's.
    marks, seen = [5, 9], []
    assert may_be_asked(lambda step: 0.1 ** sum(step >= mark for mark in marks))
    assert may_be_asked(lambda step: 0.1 ** len([mark for mark in marks if sum(at > mark for at in [step])]))
    assert not may_be_asked(lambda step: float(len([seen.append(mark) for mark in marks])))
    assert not may_be_asked(lambda step: sum(torch.rand(1).item() for _ in marks))
