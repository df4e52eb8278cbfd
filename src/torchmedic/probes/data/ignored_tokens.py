"""Looks in the batches of a language model for one real token that no label ever asks for."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import torch

from torchmedic.facts import IgnoredToken, Location
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_nodes
from torchmedic.record import Probe, Recorder

_LOOKS = 3
_IGNORED = -100
_LEAST_TIMES = 4


class IgnoredTokens(Probe):
    """Compares labels with the input at the places that the attention mask keeps, in the first batches."""

    name = "ignored-tokens"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._looks = 0
        self._found: list[tuple[int, int]] = []

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if self._looks >= _LOOKS or not isinstance(batch, Mapping) or self.recorder.clock_is_held:
            return
        parts = [batch.get(name) for name in ("input_ids", "attention_mask", "labels")]
        tensors = [part for part in parts if isinstance(part, torch.Tensor) and part.ndim == 2]
        if len(tensors) == 3 and tensors[0].shape == tensors[1].shape == tensors[2].shape:
            self._looks += 1
            self._found += _one_ignored(*tensors)

    def on_finish(self) -> None:
        if len(self._found) < self._looks or not self._found or len({token for token, _ in self._found}) != 1:
            return
        where, text = _padding_line()
        times = sum(times for _, times in self._found)
        token = self._found[0][0]
        self.recorder.observe(IgnoredToken(token=token, times=times, batches=self._looks, where=where, text=text))


def _one_ignored(ids: torch.Tensor, mask: torch.Tensor, labels: torch.Tensor) -> list[tuple[int, int]]:
    """The only token that is read and never asked for, where every other label is the token at its own place."""
    real, ignored = mask != 0, labels == _IGNORED
    skipped, asked = ids[real & ignored], real & ~ignored
    if len(skipped) < _LEAST_TIMES or not bool(asked.any()) or bool((skipped != skipped[0]).any()):
        return []
    is_copy = bool((labels[asked] == ids[asked]).all())
    return [(int(skipped[0]), len(skipped))] if is_copy and not bool((labels == skipped[0]).any()) else []


def _sets_padding(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Attribute) and target.attr.startswith("pad_token") for target in node.targets)


def _padding_line() -> tuple[Location | None, str]:
    """The line that makes another token the padding, or else the one that builds the collator."""
    found: list[tuple[bool, Location, str]] = []
    for file, node in user_nodes():
        if isinstance(node, ast.Assign) and _sets_padding(node):
            found.append((False, location(file, node.lineno), ast.unparse(node)))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("DataCollatorForLanguageModeling"):
            found.append((True, location(file, node.lineno), ast.unparse(node)))
    first = min(found, key=lambda one: one[0], default=None)
    return (first[1], first[2]) if first is not None else (None, "")
