"""Masks and positions of an examined step, held against the tokens they are about."""

from __future__ import annotations

import ast
import sys
from typing import Any, Literal

import torch

from torchmedic.facts import Location, MaskSeen, PaddingRead, PositionsAlongBatch
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.probes.objects.room import Room
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import location, names_in, outward
from torchmedic.probes.source.sources import user_files
from torchmedic.record import Recorder

_MOST_FACTS = 24
_MOST_TOKENS = 1_000_000
_LEAST_ROWS = 4
_LEAST_TAIL = 2
_FAR_BELOW = -1e3
_ARGUMENT = "attention_mask"
_ADDING = frozenset(("add", "iadd", "radd"))


@late_dataclass()
class _Shift:
    """A slice of a table that was added to a tensor."""

    call: Call
    table: tuple[int, ...]
    added: tuple[int, ...]
    to: tuple[int, ...]


class Masks:
    """Remembers the tokens of a step, and looks at every mask that has their form."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._room = Room(_MOST_FACTS)
        self._tokens: list[torch.Tensor] = []
        self._shifts: list[_Shift] = []

    def close(self) -> None:
        self._tokens.clear()
        self._shifts.clear()

    def look(self, trace: CallTrace, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._room.is_full:
            return
        if call.name == "embedding" and args and isinstance(args[0], torch.Tensor):
            self._meet_tokens(call, args, kwargs)
        elif call.name == "multi_head_attention_forward":
            self._judge(trace, call, kwargs.get("key_padding_mask"), "key_padding_mask", True)
        elif call.name == "scaled_dot_product_attention":
            mask = args[3] if len(args) > 3 else kwargs.get("attn_mask")
            if isinstance(mask, torch.Tensor) and mask.dtype == torch.bool:
                self._judge(trace, call, mask, "attn_mask", False)
        elif call.name == "masked_fill" and call.is_users and len(args) == 3 and _is_far_below(args[2]):
            self._judge(trace, call, args[1], "mask", True)
        elif call.name == "getitem" and call.options.get("index") == (-1,) and call.reads and len(call.shape) == 2:
            self._look_at_last(call)
        elif call.name in _ADDING:
            self._look_at_sum(trace, call, args)

    # -- tokens and masks ------------------------------------------------------------------------------------------

    def _meet_tokens(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        ids = args[0]
        if ids.ndim != 2 or ids.is_floating_point() or not 1 < ids.numel() <= _MOST_TOKENS or len(self._tokens) > 3:
            return
        self._tokens.append(ids.detach())
        padding = args[2] if len(args) > 2 else kwargs.get("padding_idx")
        if isinstance(padding, int):
            self._look_at_given_mask(call, ids.detach(), padding)

    def _look_at_given_mask(self, call: Call, ids: torch.Tensor, padding: int) -> None:
        """Transformers of Hugging Face keep the mask they were given under one name."""
        fills = ids == padding
        tails = _tails(fills)
        uneven = int((tails >= _LEAST_TAIL).sum()) >= _LEAST_ROWS and bool((tails != tails[0]).any())
        mask = _local(_ARGUMENT)
        if not uneven or mask is None or fills.all() or mask.shape != ids.shape:
            return
        if bool((mask[fills] != 0).all()):
            self._tell(call, "attended", _ARGUMENT, ids, fills, *_line_of(_ARGUMENT))
        elif not bool((mask[~fills] != 0).any()):
            self._tell(call, "inverted", _ARGUMENT, ids, fills, *_line_of(_ARGUMENT))

    def _judge(self, trace: CallTrace, call: Call, mask: Any, argument: str, leaves_out: bool) -> None:
        """Kept are the places of one token only, and all the others are left out: that one is the padding."""
        if not isinstance(mask, torch.Tensor) or mask.numel() > _MOST_TOKENS:
            return
        flat = mask.detach().squeeze() if mask.ndim > 2 else mask.detach()
        ignored = flat if flat.dtype == torch.bool else flat < _FAR_BELOW
        ignored = ignored if leaves_out else ~ignored
        for ids in self._tokens:
            fitting = ids if ids.shape == ignored.shape else ids.t() if ids.t().shape == ignored.shape else None
            if fitting is None or bool(ignored.all()) or not bool(ignored.any()):
                continue
            kept, others = fitting[~ignored], fitting[ignored]
            is_one = bool((kept == kept[0]).all()) and kept.numel() >= _LEAST_ROWS
            fills = fitting == kept[0]
            if is_one and bool((others != others[0]).any()) and bool(fills.ne(ignored).all()) and _is_margin(fills):
                maker = _first_maker(trace, mask)
                made = maker.place.location() if maker is not None and maker.place else None
                text = maker.place.expression() if maker is not None and maker.place else ""
                self._tell(call, "inverted", argument, fitting, fills, made, text)
            return

    def _look_at_last(self, call: Call) -> None:
        """`states[:, -1]`: whether the last place of most sequences is padding behind an end of their own."""
        states = call.reads[0].shape
        for ids in self._tokens:
            if len(states) != 3 or states[:2] != tuple(ids.shape) or call.shape != (states[0], states[2]):
                continue
            filler = ids[:, -1].mode().values
            fills = ids == filler
            tails = _tails(fills)
            padded = int((tails >= _LEAST_TAIL).sum())
            is_padding = bool((tails == fills.sum(1)).all()) and bool((tails != tails[0]).any())
            if is_padding and padded >= max(_LEAST_ROWS, 0.6 * len(ids)) and self._takes(call):
                assert call.place is not None
                self._recorder.observe(
                    PaddingRead(
                        step=self._recorder.step,
                        where=call.place.location(),
                        expression=call.place.expression(),
                        padding=int(filler),
                        padded=padded,
                        rows=len(ids),
                        length=ids.shape[1],
                        behind=float(tails.double().mean()),
                    )
                )
            return

    def _tell(
        self,
        call: Call,
        how: Literal["inverted", "attended"],
        argument: str,
        ids: torch.Tensor,
        fills: torch.Tensor,
        made: Location | None,
        text: str,
    ) -> None:
        where = call.place.location() if call.place else None
        if not self._room.takes(self._recorder.step, (where, argument)):
            return
        self._recorder.observe(
            MaskSeen(
                step=self._recorder.step,
                how=how,
                op=call.name,
                argument=argument,
                where=where,
                expression=call.place.expression() if call.place else "",
                made=made,
                made_text=text,
                padding=int(ids[fills][0]),
                tokens=int((~fills).sum()),
                fillers=int(fills.sum()),
                rows=len(ids),
            )
        )

    def _takes(self, call: Call) -> bool:
        return call.place is not None and self._room.takes(self._recorder.step, call.place.location())

    # -- positions -------------------------------------------------------------------------------------------------

    def _look_at_sum(self, trace: CallTrace, call: Call, args: tuple[Any, ...]) -> None:
        pair = [a for a in args[:2] if isinstance(a, torch.Tensor) and a.ndim == 3]
        for to, added in (pair, pair[::-1]) if len(pair) == 2 and len(self._shifts) < 4 else ():
            index = trace.maker_of(added)
            maker = trace.calls[index] if index is not None else None
            if maker is None or maker.name != "getitem" or not maker.reads or maker.reads[0].maker is not None:
                continue
            table, is_table = maker.reads[0].shape, to.requires_grad and to.shape[-1] == added.shape[-1]
            sizes = [n for n, whole in zip(added.shape[:2], table[:2], strict=False) if 1 < n < whole]
            if is_table and len(table) == 3 and len(sizes) == 1 and added.shape[0] * added.shape[1] == sizes[0]:
                self._shifts.append(_Shift(call, table, tuple(added.shape), tuple(to.shape)))

    def look_at_loss(self, answers: torch.Tensor) -> None:
        """One answer for each sample tells which dimension holds the samples."""
        samples = len(answers) if answers.ndim else 0
        for shift in self._shifts:
            at = 0 if shift.added[0] > 1 else 1
            other = shift.to[1 - at]
            is_along = shift.added[at] == samples > 1 and other not in (1, samples, *answers.shape)
            if is_along and self._takes(shift.call):
                assert shift.call.place is not None
                self._recorder.observe(
                    PositionsAlongBatch(
                        step=self._recorder.step,
                        where=shift.call.place.location(),
                        expression=shift.call.place.expression(),
                        table=shift.table,
                        added=shift.added,
                        to=shift.to,
                        samples=samples,
                        along=at,
                    )
                )
        self._shifts.clear()


def _is_margin(fills: torch.Tensor) -> bool:
    """Whether these places lie at the end, or at the beginning, of every sequence, as padding does."""
    along = [table.flip(1) if turned else table for table in (fills, fills.t()) for turned in (False, True)]
    return any(bool((_tails(table) == table.sum(1)).all()) for table in along)


def _tails(fills: torch.Tensor) -> torch.Tensor:
    """How many places at the end of each row are filled."""
    return fills.flip(1).long().cumprod(1).sum(1)


def _is_far_below(value: Any) -> bool:
    return isinstance(value, (int, float)) and value < _FAR_BELOW


def _first_maker(trace: CallTrace, mask: torch.Tensor) -> Call | None:
    """The user's call that made a mask, behind what torch's own layers did to it."""
    index = trace.maker_of(mask)
    while index is not None and not trace.calls[index].is_users:
        makers = [read.maker for read in trace.calls[index].reads if read.maker is not None]
        index = makers[0] if makers else None
    return trace.calls[index] if index is not None else None


def _local(name: str) -> torch.Tensor | None:
    """The tensor that the nearest frame which knows this name holds under it."""
    for frame in outward(sys._getframe(1)):
        names = names_in(frame)
        if name in names:
            value = names[name]
            return value if isinstance(value, torch.Tensor) else None
    return None


def _line_of(name: str) -> tuple[Location | None, str]:
    """The line of the user's that makes what goes under a name: a variable, a dict's entry, an argument."""
    for file in user_files():
        tree = parsed(file)
        for node in ast.walk(tree) if tree is not None else ():
            value = _value_under(node, name)
            if value is not None and not isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
                return location(file, value.lineno), ast.unparse(value)
    return None, ""


def _value_under(node: ast.AST, name: str) -> ast.expr | None:
    if isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        return node.values[keys.index(name)] if name in keys else None
    if isinstance(node, ast.Assign):
        last = [ast.unparse(target).strip("'\"]").rpartition(".")[2] for target in node.targets]
        return node.value if any(text == name or text.endswith(f"['{name}") for text in last) else None
    return None
