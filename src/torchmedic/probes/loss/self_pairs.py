"""Tables of similarities between the rows of one batch: whether each row competes with itself, or is its own answer."""

from __future__ import annotations

from typing import Any

import torch

from torchmedic.facts import Location, LossCall, OwnPositive, SelfAmongNegatives
from torchmedic.probes.graph.calls import TRANSPARENT, Call, CallTrace
from torchmedic.probes.source.positions import operand_names
from torchmedic.record import Recorder

_MOST_ELEMENTS = 4_000_000
_MOST_FACTS = 16
_LEAST_ROWS = 4
_SCALING = frozenset(("mul", "rmul", "div", "true_divide", "exp", "log_softmax", "neg"))
_PAIRING = frozenset(("matmul", "rmatmul", "mm", "einsum", "linear", "cosine_similarity"))
_QUOTIENTS = frozenset(("div", "true_divide", "rdiv", "rtruediv"))
_TO_THE_LOG = frozenset((*_QUOTIENTS, "add", "clamp", "clamp_min", "squeeze", "unsqueeze", "view", "reshape"))
_FARTHEST = 4


class SelfPairs:
    """Looks at square tables in an examined step: those that a loss is given, and sums over exponentials by hand."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._facts = 0
        self._sums: list[Call] = []

    def look(self, trace: CallTrace, call: Call, args: tuple[Any, ...]) -> None:
        if call.name != "sum" or not call.is_users or not args or not isinstance(args[0], torch.Tensor):
            return
        table = args[0]
        maker = trace.maker_of(table)
        if maker is None or trace.calls[maker].name != "exp" or call.shape[:1] != table.shape[:1] or not call.shape:
            return
        if _is_square(table) and table.requires_grad and _meets_itself(table.detach()) is not None:
            self._sums.append(call)

    def close(self, trace: CallTrace) -> None:
        for call in self._sums:
            table = trace.calls[call.reads[0].maker] if call.reads and call.reads[0].maker is not None else None
            # Who takes the diagonal off, or what it adds, knows of it.
            others = {reader.name for reader in trace.readers(table.index)} if table is not None else set()
            product = _product_behind(trace, table.index) if table is not None else None
            is_corrected = any(reader.name in ("sub", "rsub", "isub") for reader in trace.readers(call.index))
            if product is None or is_corrected or others & {"diagonal", "diag", "trace", "sub"}:
                continue
            if _becomes_log_of_share(trace, call.index):
                name = next(iter(operand_names(call.place.expression())), "") if call.place else ""
                self._tell(
                    call.place.location() if call.place else None,
                    name or "the table",
                    product,
                    call.reads[0].shape[0],
                    "sum",
                )
        self._sums.clear()

    def look_at_loss(self, trace: CallTrace, seen: LossCall, given: torch.Tensor, target: torch.Tensor) -> None:
        is_class = seen.function in ("cross_entropy", "nll_loss") and not target.is_floating_point()
        if not is_class or not _is_square(given) or target.shape != given.shape[:1]:
            return
        table = given.detach()
        form = _meets_itself(table)
        rows = torch.arange(len(table), device=target.device)
        if form is None:
            return
        if form == "symmetric" and bool((target == rows).all()) and seen.function == "cross_entropy":
            self._tell_own(trace, seen, given, target)
        product = _product_behind(trace, trace.maker_of(given))
        if product is not None and not bool((target == rows).any()) and bool((target >= 0).all()):
            self._tell(seen.where, seen.names[0], product, len(table), seen.function)

    def _tell_own(self, trace: CallTrace, seen: LossCall, given: torch.Tensor, target: torch.Tensor) -> None:
        maker = trace.real_maker(given)[0]
        chosen = trace.real_maker(target)[0]
        self._recorder.observe(
            OwnPositive(
                step=self._recorder.step,
                where=seen.where,
                names=seen.names,
                table_made=maker.place.location() if maker is not None and maker.place else None,
                target_made=chosen.place.location() if chosen is not None and chosen.place else None,
                size=len(given),
                loss=seen.loss,
            )
        )

    def _tell(self, where: Location | None, table: str, product: Call, size: int, function: str) -> None:
        if self._facts >= _MOST_FACTS:
            return
        self._facts += 1
        self._recorder.observe(
            SelfAmongNegatives(
                step=self._recorder.step,
                where=where,
                table=table,
                function=function,
                made=product.place.location() if product.place else None,
                made_text=product.place.expression() if product.place else "",
                size=size,
            )
        )


def _is_square(table: torch.Tensor) -> bool:
    return table.ndim == 2 and _LEAST_ROWS <= table.shape[0] == table.shape[1] and table.numel() <= _MOST_ELEMENTS


def _meets_itself(table: torch.Tensor) -> str | None:
    """How a table shows that its rows are its columns: the diagonal is the largest of each row, and it is symmetric.

    After a `log_softmax` only what each row has beside its diagonal still is.
    """
    diagonal = table.diagonal()
    if not bool(torch.isfinite(table).all()) or not bool((diagonal >= table.amax(1) - 1e-5 * diagonal.abs()).all()):
        return None
    if torch.allclose(table, table.t(), rtol=1e-4, atol=1e-5):
        return "symmetric" if bool((table < diagonal[:, None]).any()) else None
    beside = table - diagonal[:, None]
    return "shifted" if torch.allclose(beside, beside.t(), rtol=1e-4, atol=1e-4) else None


def _product_behind(trace: CallTrace, index: int | None) -> Call | None:
    """The product of a batch with itself that a table is, scaled or not."""
    way = trace.way_back(index, TRANSPARENT | _SCALING)
    return way[-1] if way and way[-1].name in _PAIRING else None


def _becomes_log_of_share(trace: CallTrace, index: int) -> bool:
    """`log(positive / total)`: what is summed up is the whole of a share whose logarithm is taken."""
    waiting = [(index, False, 0)]
    while waiting:
        at, is_share, way = waiting.pop()
        for reader in trace.readers(at):
            if reader.name == "log" and is_share:
                return True
            if reader.name in _TO_THE_LOG and way < _FARTHEST:
                waiting.append((reader.index, is_share or reader.name in _QUOTIENTS, way + 1))
    return False
