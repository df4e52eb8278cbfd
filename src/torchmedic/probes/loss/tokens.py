"""Whether a model that learns to predict tokens is shown the ones it must predict."""

from __future__ import annotations

import ast
from typing import Any

import torch
from torch import nn

from torchmedic.facts import Location, LossCall, TokensAhead
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.probes.graph.reach import is_safe_to_follow, reached
from torchmedic.probes.loss.shifted_lines import decoder_line, labels_line, shifting_line
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import file_at
from torchmedic.record import Recorder

_LEAST_COMPARED = 16
_LEAST_KINDS = 4
_MOST_OFFSET = 2
_MOST_TOKENS = 1_000_000
_MOST_LOOKS = 3
_ATTENTION = frozenset(("softmax", "scaled_dot_product_attention", "multi_head_attention_forward"))
_MASKS = frozenset(("triu", "tril", "generate_square_subsequent_mask"))


@late_dataclass(frozen=True)
class Alignment:
    """How targets lie against tokens: `offset` positions ahead, along dimension `dim` of the tokens."""

    offset: int
    dim: int
    length: int


class Tokens:
    """Remembers what embeddings were given, and compares it with what the loss is told to expect."""

    def __init__(self, recorder: Recorder, modules: Modules) -> None:
        self._recorder = recorder
        self._modules = modules
        self._embedded: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._looks = 0

    def close(self) -> None:
        self._embedded.clear()

    def look(self, call: Call, args: tuple[Any, ...], result: Any) -> None:
        ids = args[0] if call.name == "embedding" and args else None
        if not isinstance(ids, torch.Tensor) or ids.ndim != 2 or not isinstance(result, torch.Tensor):
            return
        if result.requires_grad and ids.numel() <= _MOST_TOKENS and self._looks < _MOST_LOOKS:
            self._embedded.append((ids, result))

    def look_at_loss(self, trace: CallTrace, seen: LossCall, answers: torch.Tensor, target: torch.Tensor) -> None:
        if seen.function not in ("cross_entropy", "nll_loss") or target.is_floating_point() or not self._embedded:
            return
        ignore = int(seen.options.get("ignore_index", "-100"))
        ways = [(how, *pair) for pair in self._embedded for how in aligned(pair[0], target, ignore)]
        if any(how.offset < _MOST_OFFSET for how, *_ in ways):
            # Tokens that the model looks up at several shifts are shifted by the model: the nearest are its input.
            ways = [way for way in ways if way[0].offset < _MOST_OFFSET]
        tried = (self._fact(trace, seen, answers, *way) for way in ways)
        facts = [fact for fact in tried if fact is not None]
        if facts:
            self._looks += 1
            # Encoder and decoder may both read the targets: of the two, only the decoder has to be blind.
            self._recorder.observe(min(facts, key=lambda fact: sum(i > fact.position for i in fact.seen)))

    def _fact(
        self,
        trace: CallTrace,
        seen: LossCall,
        answers: torch.Tensor,
        how: Alignment,
        ids: torch.Tensor,
        vectors: torch.Tensor,
    ) -> TokensAhead | None:
        position = how.length // 2
        positions = self._seen(trace, answers, how, position, ids, vectors) if how.offset < _MOST_OFFSET else None
        if how.offset < _MOST_OFFSET and (positions is None or not _is_along_time(positions, position, how.offset)):
            return None
        mixer, mixed_at = self._mixer(trace)
        return TokensAhead(
            step=self._recorder.step,
            offset=how.offset,
            length=how.length,
            position=position,
            seen=positions or (),
            where=seen.where,
            names=seen.names,
            mask=_mask_line(trace, file_at(mixed_at or seen.where)),
            mixer=mixer,
            mixed_at=mixed_at,
            shifted_at=shifting_line(file_at(seen.where)) if how.offset > 1 else None,
            labels_at=labels_line() if how.offset > 1 else None,
            decoder_at=decoder_line(file_at(seen.where), seen.where) if how.offset == 0 else None,
        )

    def _seen(
        self,
        trace: CallTrace,
        answers: torch.Tensor,
        how: Alignment,
        position: int,
        ids: torch.Tensor,
        vectors: torch.Tensor,
    ) -> tuple[int, ...] | None:
        """The positions of the first sequence that the answer at one of them was computed from."""
        if trace.has_hooks or not is_safe_to_follow(answers, self._modules.alive()):
            return None
        rows = ids.shape[1 - how.dim]
        flat = position if how.dim == 1 else position * rows
        of_sequence = (0, slice(None), position) if how.dim == 1 else (position, slice(None), 0)
        index: tuple[Any, ...] = (flat,) if answers.ndim == 2 else of_sequence
        parts = reached(answers, index, vectors)
        if parts is None:
            return None
        of_first = parts.sum(-1).select(1 - how.dim, 0)
        return tuple(int(i) for i in (of_first > 0).nonzero().flatten())

    def _mixer(self, trace: CallTrace) -> tuple[str, Location | None]:
        """What lets positions see each other: a layer that reads in both directions, or attention."""
        for call in trace.calls:
            layer = call.layer
            if isinstance(layer, nn.RNNBase) and layer.bidirectional:
                return f"{type(layer).__name__}(bidirectional=True)", self._modules.born_at(layer)
        attention = [c for c in trace.calls if c.name in _ATTENTION and c.inside_module and c.place is not None]
        if attention and attention[-1].place is not None:
            return "attention", attention[-1].place.location()
        return "", None


def _is_along_time(positions: tuple[int, ...], position: int, offset: int) -> bool:
    """Whether positions read each other. Targets that run ahead are a proof of time, and a mask may be inverted."""
    return any(i < position or (offset == 1 and i > position) for i in positions)


def aligned(ids: torch.Tensor, target: torch.Tensor, ignore: int) -> list[Alignment]:
    """By how many positions targets run ahead of tokens; nothing where they are something else, or it cannot be told.

    Targets that are the tokens themselves fit along both dimensions.
    """
    tokens, wanted = ids.detach().cpu(), target.detach().cpu().flatten()
    found = []
    for dim in (1, 0):
        rows, length = tokens.shape[1 - dim], tokens.shape[dim]
        for count in (length, length - 1):
            if count < 2 or wanted.numel() != rows * count:
                continue
            lines = wanted.reshape(rows, count) if dim == 1 else wanted.reshape(count, rows).T
            by_row = tokens if dim == 1 else tokens.T
            found += [Alignment(k, dim, count) for k in range(_MOST_OFFSET + 1) if _agree(by_row, lines, k, ignore)]
    return found if len({how.offset for how in found}) == 1 else []


def _agree(tokens: torch.Tensor, wanted: torch.Tensor, offset: int, ignore: int) -> bool:
    width = min(wanted.shape[1], tokens.shape[1] - offset)
    left, right = wanted[:, :width], tokens[:, offset : offset + width]
    counts = left != ignore
    compared = left[counts]
    if compared.numel() < _LEAST_COMPARED or len(set(compared.tolist())) < _LEAST_KINDS:
        return False
    return bool((compared == right[counts]).all())


def _mask_line(trace: CallTrace, file: str) -> Location | None:
    """Where a causal mask is made: in this step, or anywhere in the file of the attention."""
    made = next((c.place for c in trace.calls if c.name in _MASKS and c.is_users and c.place), None)
    if made is not None:
        return made.location()
    tree = parsed(file) if file else None
    named = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in _MASKS] if tree else []
    return location(file, named[0].lineno) if named else None
