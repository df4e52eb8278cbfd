"""Test rows that are next of kin to rows trained on: windows of one series that overlap, and mixtures of two rows."""

from __future__ import annotations

from dataclasses import field

import torch

from torchmedic.facts import KinRows, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.data.splits import split_line

_MOST_TRAINED = 4_000
_MOST_TESTED = 256
_FEW = 8
_MANY = 512  # where all are evaluated at once
_MOST_COLUMNS = 512
_MOST_COMPARED = 96
_MOST_CELLS = 400_000
_MOST_VARIED = 64
_LEAST_COLUMNS = 4
_LEAST_ROWS = 10
_SHARED_CELLS = 0.6
_OVERLAPPING = 0.3
_MIXED = 0.1
_COMMON = 200  # a value that stands in more cells than this tells nothing
_NEIGHBOURS = 40
_STRAIGHT = 1e-7
_MOVING = 0.6
_LATTICE = 20  # a column of so few values is a scale or a code: rows meet in it by chance
_FEW_VALUES = 0.02  # how often two rows agree in a column, at least, where agreeing tells nothing
_NEAR = 2  # columns that differ: another answer to one question is two columns of a one-hot code
_ABOVE_NEAR = 4


@late_dataclass()
class RowSample:
    """The values of a bounded number of rows, in the order in which they came."""

    rows: list[torch.Tensor] = field(default_factory=list)
    count: int = 0

    def take(self, rows: torch.Tensor, most: int = _MOST_TRAINED) -> None:
        if not rows.is_floating_point() or rows.ndim < 2 or rows.layout != torch.strided or self.count >= most:
            return
        flat = rows.detach()[: most - self.count].reshape(min(len(rows), most - self.count), -1)[:, :_MOST_COLUMNS]
        if flat.shape[1] >= _LEAST_COLUMNS and all(kept.shape[1] == flat.shape[1] for kept in self.rows[:1]):
            self.rows.append(flat.float().cpu().clone())
            self.count += len(flat)

    def take_some(self, rows: torch.Tensor) -> None:
        """A few rows from all over a batch that is evaluated: neighbours lie next to each other."""
        most = _MOST_TESTED if len(rows) >= _MANY else max(_FEW, len(rows) // _FEW)
        chosen = torch.linspace(0, len(rows) - 1, min(most, len(rows)), device=rows.device).long()
        self.take(rows[chosen] if rows.layout == torch.strided and len(rows) else rows, _MOST_TESTED)

    def values(self) -> torch.Tensor:
        """The different rows, without those that hold something that is no number."""
        found = torch.cat(self.rows) if self.rows else torch.empty(0, 0, device="cpu")
        return torch.unique(found[torch.isfinite(found).all(1)], dim=0) if len(found) else found


def kin_fact(trained: RowSample, tested: RowSample, step: int, name: str, evaluated: Location | None) -> KinRows | None:
    """What there is to tell of test rows beside those trained on, if they are akin."""
    train, test = trained.values(), tested.values()
    if len(train) < _LEAST_ROWS or len(test) < _LEAST_ROWS or train.shape[1] != test.shape[1]:
        return None
    test = _thinned(test, _MOST_COMPARED)
    akin = {
        "windows": (_count_overlapping(_thinned(train, _MOST_CELLS // train.shape[1]), test), _OVERLAPPING),
        "mixtures": (_count_mixed(train.double(), test.double()), _MIXED),
    }
    for how, (count, share) in akin.items():
        if count >= max(_LEAST_ROWS, share * len(test)):
            return KinRows(
                step=step,
                how=how,
                akin=count,
                looked_at=len(test),
                name=name,
                split=split_line(),
                evaluated=evaluated,
            )
    return None


def coincide_by_chance(trained: RowSample, tested: RowSample) -> bool:
    """Whether test rows equal trained ones as people do who fill in the same few boxes, and not as copies.

    Where rows meet by chance, there are as many that differ in a box or two; of a copy there is no such neighbour.
    """
    train, test = trained.values(), tested.values()
    if not len(train) or not len(test) or train.shape[1] != test.shape[1]:
        return False
    few = torch.tensor([_agreeing(column) >= _FEW_VALUES for column in train.T], device="cpu")
    equal = near = 0
    for row in _thinned(test, _MOST_COMPARED):
        differs = train[(train[:, ~few] == row[~few]).all(1)][:, few] != row[few]
        count = differs.sum(1)
        equal += int((count == 0).sum())
        near += int(((count > 0) & (count <= _NEAR)).sum())
    return near > 0 and equal <= _ABOVE_NEAR * near


def _agreeing(column: torch.Tensor) -> float:
    """How often two rows drawn at random have the same value in a column."""
    shares = torch.unique(column, return_counts=True)[1].double() / len(column)
    return float(shares.square().sum())


def _thinned(rows: torch.Tensor, most: int) -> torch.Tensor:
    return rows[:: max(1, -(-len(rows) // most))]


def _count_overlapping(train: torch.Tensor, test: torch.Tensor) -> int:
    """Rows that share most cells, shifted, with a row trained on before them and with one behind them.

    At the border of a split in time windows overlap on one side only.
    """
    width = train.shape[1]
    values, cells = train.flatten().sort()
    found = 0
    for row in test:
        told = torch.nonzero(row != row.round()).flatten()
        first = torch.searchsorted(values, row[told])
        counts = torch.searchsorted(values, row[told], right=True) - first
        counts = torch.where(counts <= _COMMON, counts, 0)
        begin = torch.repeat_interleave(first - (counts.cumsum(0) - counts), counts)
        matches = cells[begin + torch.arange(len(begin), device="cpu")]
        shift = torch.repeat_interleave(told, counts) - matches % width
        pairs, shared = torch.unique(matches // width * 2 * width + shift + width, return_counts=True)
        shifts = pairs[shared >= _SHARED_CELLS * width] % (2 * width) - width
        found += bool((shifts > 0).any() and (shifts < 0).any())
    return found


def _count_mixed(train: torch.Tensor, test: torch.Tensor) -> int:
    """Rows that lie exactly on the way from one row trained on to another, in nearly all of their columns."""
    varied = torch.nonzero((train != train[:1]).any(0) & (train != train.round()).any(0)).flatten()
    # On a lattice every other point lies between two: rows of a questionnaire are no mixtures.
    is_fine = [len(torch.unique(train[:, at])) > _LATTICE for at in varied.tolist()]
    varied = _thinned(varied[is_fine], _MOST_VARIED)
    train, test = train[:, varied], test[:, varied]
    if len(varied) < _LEAST_COLUMNS or len(train) < _NEIGHBOURS:
        return 0
    lengths = torch.cdist(test, train)
    return sum(_is_mixed(row, train, length) for row, length in zip(test, lengths, strict=True))


def _is_mixed(row: torch.Tensor, train: torch.Tensor, length: torch.Tensor) -> bool:
    near = length.topk(_NEIGHBOURS, largest=False).indices
    near = near[length[near] > 1e-4 * length.median()]
    if len(near) < _NEIGHBOURS // 2:
        return False
    ways = torch.nn.functional.normalize(train[near] - row, dim=1)
    angles = ways @ ways.T
    lowest = int(angles.argmin())
    one = lowest // len(near)
    if float(angles.flatten()[lowest]) > _STRAIGHT - 1:
        return False
    on_line = int((angles[one].abs() > 1 - _STRAIGHT).sum())
    moving = int((ways[one].abs() > 1e-4).sum())
    # Where all rows lie on a line, or few columns change from row to row, that is how the data are.
    return on_line < len(near) / 2 and moving >= max(_LEAST_COLUMNS, _MOVING * ways.shape[1])
