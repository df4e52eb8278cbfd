"""The exam of padding: does the loss count targets where the tokens are nothing but padding."""

from __future__ import annotations

import functools
import sys
from collections import deque
from typing import Any

import torch
from torch import nn
from torch.nn.utils import rnn as torch_rnn
from torch.overrides import TorchFunctionMode

from torchmedic.facts import ClassIgnored, Location, PaddedLabels
from torchmedic.late import late_dataclass
from torchmedic.probes.data.filled_rows import (
    Fields,
    fields_of,
    filling,
    is_at_an_end,
    is_filled_up,
    is_no_word,
    masks_in,
)
from torchmedic.probes.data.label_fields import copied_field, field_line
from torchmedic.probes.events.modes import is_compiled, may_put_on, take_off
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.graph.trace import Place
from torchmedic.probes.objects.class_names import name_of_class
from torchmedic.probes.source.frames import is_user_file, outward, user_frame
from torchmedic.probes.source.positions import operand_names
from torchmedic.probes.source.sources import padding_lines
from torchmedic.probes.source.tracebacks import hide_mode
from torchmedic.record import Probe, Recorder, shielded

_LOOKED_AT = frozenset((3, 6, 12, 24, 48))
_LAST_LOOK = max(_LOOKED_AT) + 1
_MOST_ELEMENTS = 1_000_000
_LOSSES = ("cross_entropy", "nll_loss")
_RECENT = 8


@late_dataclass(frozen=True)
class _Padded:
    """A result of `pad_sequence`: `mask` is true where padding was put."""

    values: torch.Tensor
    mask: torch.Tensor
    place: Place | None


@late_dataclass(frozen=True)
class _Tokens:
    ids: torch.Tensor
    padding: int | None
    vocabulary: int


class PaddingExam(Probe):
    """Looks at the targets of a few steps, where something is known to pad."""

    name = "padding-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._padded: deque[_Padded] = deque(maxlen=_RECENT)
        self._tokens: list[_Tokens] = []
        # Two, as some loaders fetch the next batch before they hand out the last.
        self._batches: deque[Fields] = deque(maxlen=2)
        self._watch: _TokensAndLosses | None = None
        self._is_over = False
        self._watch_padding()

    def remove(self) -> None:
        self._stop()
        self._patches.restore()

    def on_optimizer(self, optimizer: Any) -> None:
        self._is_over = False
        self.recorder.wake(self)

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if not self._is_over and self.recorder.is_ours:
            self._batches.appendleft(fields_of(batch))

    def on_step_done(self, optimizer: Any) -> None:
        self._stop()
        steps = self._optimizers.steps_of(optimizer)
        if self.recorder.clock_is_held:
            return
        if steps in _LOOKED_AT and self._is_padding_about() and may_put_on() and not is_compiled():
            self._watch = _TokensAndLosses(shielded(self)(self._note_tokens), shielded(self)(self._look))
            torch._C._push_on_torch_function_stack(self._watch)
        self._is_over = steps > _LAST_LOOK
        if self._is_over:
            self._padded.clear()
            self._batches.clear()
            self.recorder.rest(self)

    def _stop(self) -> None:
        if self._watch is not None:
            take_off(self._watch)
            self._watch = None
            self._tokens.clear()

    def _is_padding_about(self) -> bool:
        layers = (m for m in self._modules.alive() if isinstance(m, nn.Embedding))
        paddings = [layer.padding_idx for layer in layers]
        told = bool(paddings) and (bool(self._masks()) or any(map(is_filled_up, self._fields())))
        return bool(self._padded) or told or any(padding is not None for padding in paddings)

    def _fields(self) -> list[torch.Tensor]:
        return [field for fields in self._batches for field in fields.values()]

    def _masks(self) -> list[torch.Tensor]:
        return [mask for field in self._fields() for mask in masks_in(field)]

    def _watch_padding(self) -> None:
        original = torch_rnn.pad_sequence
        note = shielded(self)(self._note_padding)

        @functools.wraps(original)
        def pad_sequence(sequences: Any, *args: Any, **kwargs: Any) -> Any:
            # Collate functions hand over whatever can be iterated once.
            given = list(sequences) if not isinstance(sequences, (list, tuple, torch.Tensor)) else sequences
            with frame_hidden:
                result = original(given, *args, **kwargs)  # type: ignore[arg-type]
            if self.recorder.is_ours and self.recorder.step <= _LAST_LOOK:
                note(original, given, args, kwargs, result)
            return result

        self._patches.replace(torch_rnn, "pad_sequence", pad_sequence)

    def _note_padding(self, original: Any, given: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        if result.is_floating_point() or result.ndim != 2 or result.numel() > _MOST_ELEMENTS:
            return
        layout = {"batch_first": args[0] if args else kwargs.get("batch_first", False)}
        if "padding_side" in kwargs:
            layout["padding_side"] = kwargs["padding_side"]
        real = original([torch.ones_like(sequence, dtype=torch.bool) for sequence in given], **layout)
        frame = user_frame(sys._getframe(2))
        place = Place(frame.f_code, frame.f_lineno or 0, frame.f_lasti) if frame is not None else None
        self._padded.append(_Padded(result, ~real, place))

    def _note_tokens(self, ids: torch.Tensor, padding: int | None, vocabulary: int) -> None:
        if ids.ndim == 2 and ids.numel() <= _MOST_ELEMENTS:
            self._tokens.append(_Tokens(ids.detach().cpu(), padding, vocabulary))

    def _look(self, function: str, given: torch.Tensor, target: torch.Tensor, options: dict[str, Any]) -> None:
        is_index = not target.is_floating_point() and 0 < target.numel() <= _MOST_ELEMENTS
        if self.recorder.clock_is_held or not given.requires_grad or not is_index or given.ndim < 2:
            return
        if options.get("reduction", "mean") == "none":  # what the padding costs is taken out later
            return
        near = target.detach().cpu().flatten()
        pads = next((pad for pad in reversed(self._padded) if _is_same(pad.values, near)), None)
        masks = [*((pads.mask,) if pads is not None else ()), *self._masks()]
        # Of an encoder and a decoder, the tokens that stand beside the targets are the decoder's.
        for tokens in sorted(self._tokens, key=lambda tokens: tokens.ids.numel() != near.numel()):
            mask = _padding_of(tokens, near, masks)
            if mask is not None and tokens.vocabulary != given.shape[1]:
                self._note(function, near, tokens, mask, options, pads)
                self._note_ignored(function, near, mask, int(options.get("ignore_index", -100)), given.shape[1], pads)
                return
            if tokens.vocabulary == given.shape[1] and self._note_own(function, near, tokens, options):
                return

    def _note_own(self, function: str, target: torch.Tensor, tokens: _Tokens, options: dict[str, Any]) -> bool:
        """The next token is learned, and padding is one of the tokens: whether the targets go on into it."""
        ids = tokens.ids
        told = next((m for m in self._masks() if m.shape == ids.shape and is_no_word(ids, m)), None)
        mask = told if told is not None else _own_padding(tokens)
        mask = mask if mask is not None else self._padding_seen(ids)
        mask = mask if mask is not None else filling(ids)
        if mask is None or target.numel() % len(ids):
            return False
        pad, ignore, weight = int(ids[mask][0]), int(options.get("ignore_index", -100)), options.get("weight")
        texts = _by_text(target, ids, mask)
        counted, real = (texts == pad) & (texts != ignore), (texts != pad) & (texts != ignore)
        if not _are_apart(counted, real):
            return False
        if weight is not None and float(weight[pad]) == 0:
            return False
        field = next((key for fields in self._batches if (key := copied_field(fields, ids))), "")
        frame = user_frame(sys._getframe(2))
        place = Place(frame.f_code, frame.f_lineno or 0, frame.f_lasti) if frame is not None else None
        self.recorder.observe(
            PaddedLabels(
                step=self.recorder.step,
                function=function,
                where=place.location() if place else None,
                names=(_operands(place)[0], field) if field else _operands(place),
                label=pad,
                padded=int(counted.sum()),
                positions=int((target != ignore).sum()),
                real=0,
                ignore_index=ignore,
                pad_token=pad,
                padded_at=field_line(field),
                is_token=True,
                is_told=told is not None,
                is_ending=not _has_one_end(texts, counted),
                built=self._built(),
            )
        )
        return True

    def _padding_seen(self, ids: torch.Tensor) -> torch.Tensor | None:
        """Where the tokens are what `pad_sequence` filled up with; a decoder is given all but the last of them."""
        rows, columns = ids.shape
        for pad in reversed(self._padded):
            mask = pad.mask[:rows, :columns].cpu()
            is_most = mask.shape == ids.shape and max(pad.mask.shape[0] - rows, pad.mask.shape[1] - columns) <= 1
            if is_most and torch.equal(pad.values[:rows, :columns].cpu(), ids) and is_no_word(ids, mask):
                return mask
        return None

    def _built(self) -> Location | None:
        """The line that built the loss, where it is a layer."""
        for frame in outward(sys._getframe(1)):
            if is_user_file(frame.f_code.co_filename):
                return None
            owner = frame.f_locals.get("self")
            if isinstance(owner, nn.modules.loss._Loss):
                return self._modules.born_at(owner)
        return None

    def _note(
        self,
        function: str,
        target: torch.Tensor,
        tokens: _Tokens,
        mask: torch.Tensor,
        options: dict[str, Any],
        pads: _Padded | None,
    ) -> None:
        ignore = int(options.get("ignore_index", -100))
        flat = mask.flatten()
        there, real = target[flat], target[~flat]
        label = int(there[0]) if bool((there == there[0]).all()) else None
        weight = options.get("weight")
        if label == ignore or (label is not None and weight is not None and float(weight[label]) == 0):
            return
        frame = user_frame(sys._getframe(2))
        place = Place(frame.f_code, frame.f_lineno or 0, frame.f_lasti) if frame is not None else None
        padded_at, padded_by = _padding_line(pads, label)
        self.recorder.observe(
            PaddedLabels(
                step=self.recorder.step,
                function=function,
                where=place.location() if place else None,
                names=_operands(place),
                label=label,
                padded=int(flat.sum()),
                positions=int((target != ignore).sum()),
                real=int((real == label).sum()) if label is not None else 0,
                ignore_index=ignore,
                pad_token=int(tokens.ids[mask][0]),
                padded_at=padded_at,
                padded_by=padded_by,
                is_ending=label is not None and _ends_with(target.view_as(tokens.ids), mask, label),
            )
        )

    def _note_ignored(
        self, function: str, target: torch.Tensor, mask: torch.Tensor, ignore: int, classes: int, pads: _Padded | None
    ) -> None:
        """Padding is ignored, and with it what real words are labelled: told by the name that the script has for it."""
        padding, real = target[mask.flatten()], target[~mask.flatten()]
        if not 0 <= ignore < classes or not bool((padding == ignore).all()) or not bool((real == ignore).any()):
            return
        frame = user_frame(sys._getframe(2))
        name = name_of_class(ignore, classes, frame)
        if not name or frame is None:
            return
        place = Place(frame.f_code, frame.f_lineno or 0, frame.f_lasti)
        padded_at, padded_by = _padding_line(pads, ignore)
        self.recorder.observe(
            ClassIgnored(
                step=self.recorder.step,
                function=function,
                where=place.location(),
                target=_operands(place)[1],
                label=ignore,
                class_name=name,
                ignored=int((real == ignore).sum()),
                real=len(real),
                built=self._built(),
                padded_at=padded_at,
                padded_by=padded_by,
            )
        )


class _TokensAndLosses(TorchFunctionMode):
    """Hands on what embeddings and classification losses are given."""

    def __init__(self, tokens: Any, losses: Any) -> None:
        super().__init__()
        self._tokens = tokens
        self._losses = losses

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "embedding" and len(args) > 1:
            padding = args[2] if len(args) > 2 else kwargs.get("padding_idx")
            self._tokens(args[0], padding, len(args[1]))
        elif name in _LOSSES and torch.is_grad_enabled():
            given = args[0] if args else kwargs.get("input")
            target = args[1] if len(args) > 1 else kwargs.get("target")
            if isinstance(given, torch.Tensor) and isinstance(target, torch.Tensor):
                self._losses(name, given, target, kwargs)
        try:
            return func(*args, **kwargs)
        except BaseException as error:
            hide_mode(error)
            raise


def _is_same(padded: torch.Tensor, flat: torch.Tensor) -> bool:
    return padded.numel() == flat.numel() and bool((padded.cpu().flatten() == flat).all())


def _padding_of(tokens: _Tokens, target: torch.Tensor, masks: list[torch.Tensor]) -> torch.Tensor | None:
    """Where the tokens are padding: by what the embedding says, by where targets were padded, or by the batch."""
    ids = tokens.ids
    if ids.numel() != target.numel():
        return None
    if tokens.padding is not None:
        return _own_padding(tokens)
    return next((mask for mask in masks if mask.shape == ids.shape and is_no_word(ids, mask)), None)


def _own_padding(tokens: _Tokens) -> torch.Tensor | None:
    """Where the tokens are the padding that their embedding knows."""
    mask = tokens.ids == tokens.padding % tokens.vocabulary if tokens.padding is not None else None
    return mask if mask is not None and is_at_an_end(mask) else None


def _are_apart(counted: torch.Tensor, real: torch.Tensor) -> bool:
    """Whether in every row all of the padding lies behind what is real, or all of it before."""
    behind = real.flip(1).cumsum(1).flip(1) > 0
    return bool(counted.any()) and not (bool((counted & behind).any()) and bool((counted & (real.cumsum(1) > 0)).any()))


def _by_text(target: torch.Tensor, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The targets, one text in each row; tokens may lie the other way round, with a text in each column."""
    tails = mask.flip(1).long().cumprod(1).sum(1)
    heads = mask.long().cumprod(1).sum(1)
    is_row = bool((tails == mask.sum(1)).all()) or bool((heads == mask.sum(1)).all())
    return target.view(len(ids), -1) if is_row or target.numel() % ids.shape[1] else target.view(-1, ids.shape[1]).T


def _has_one_end(target: torch.Tensor, counted: torch.Tensor) -> bool:
    """Whether all padded texts end with the same token: then padding is not needed to tell that they are over."""
    rows = [(row, padded) for row, padded in zip(target, counted, strict=True) if bool(padded.any())]
    last = {int(row[~padded][-1]) for row, padded in rows if bool((~padded).any())}
    return len(last) == 1


def _ends_with(target: torch.Tensor, mask: torch.Tensor, label: int) -> bool:
    """Whether real places have a label only right before the padding: then it says that the text is over."""
    rows = [t[~m] for t, m in zip(target, mask, strict=True)]
    return not any(bool((row[:-1] == label).any()) for row in rows)


def _operands(place: Place | None) -> tuple[str, str]:
    """How the user wrote answers and targets."""
    names = operand_names(place.expression()) if place is not None else ()
    return (names[-2], names[-1]) if len(names) >= 2 else ("input", "target")


def _padding_line(pads: _Padded | None, label: int | None) -> tuple[Location | None, str]:
    """The call that padded the targets; in a worker nobody saw it, and the source may have but one that fits."""
    if pads is not None and pads.place is not None:
        return pads.place.location(), pads.place.expression()
    fitting = padding_lines(label) if label is not None else ()
    return fitting[0] if len(fitting) == 1 else (None, "")
