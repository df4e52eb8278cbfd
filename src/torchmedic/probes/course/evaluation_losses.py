"""Losses that the script computes while gradients are off: its validation, seen without a word of code."""

from __future__ import annotations

import functools
import linecache
import re
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import torch
from torch.nn import functional

from torchmedic.facts.metrics import Split, split_of, words_of
from torchmedic.probes.events.modes import is_compiled
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.loss.losses import LOSSES
from torchmedic.probes.source.frames import is_user_file, outward
from torchmedic.probes.source.grad_blocks import GradBlocks, Site

_FURTHER = ("gaussian_nll_loss", "poisson_nll_loss", "ctc_loss", "multi_margin_loss", "multilabel_soft_margin_loss")
_WATCHED = (*sorted(LOSSES), *_FURTHER)
_VAIN_LOOKS = 20
_MOST_FRAMES = 12
_NAMES = re.compile(r"[A-Za-z_]\w*")
# Words that tell what is done, not on which data: `evaluate(model, test_loader)`.
_WEAK = frozenset(("eval", "evaluate", "evaluation", "testing", "validate"))
_SPLIT_VARIABLES = frozenset(("split", "phase", "subset", "part"))

Taker = Callable[[str, Any, float], None]


class EvaluationLosses:
    """While the user's own `no_grad` or `inference_mode` block is open, listens to torch's loss functions.

    They are replaced only inside such a block, and not at all once something was compiled: dynamo would have to
    compile again.
    """

    def __init__(self, take: Taker) -> None:
        self._take = take
        self._inside = Patches()
        self._open_site: Site | None = None
        self._heard = False
        self._vain: dict[Site, int] = {}
        self._names: dict[tuple[tuple[CodeType, int, str], ...], str] = {}
        self._taken: set[str] = set()

    def install(self) -> None:
        GradBlocks.add(self)

    def remove(self) -> None:
        self._inside.restore()
        GradBlocks.remove(self)

    def block_begins(self, site: Site) -> None:
        if self._vain.get(site, 0) >= _VAIN_LOOKS or is_compiled():
            return
        self._heard = False
        self._open_site = site
        for name in _WATCHED:
            original = getattr(functional, name)
            self._inside.replace(functional, name, self._listening(name, original))

    def block_ends(self) -> None:
        """A block that is entered again and again without any loss (a moving average, a target) is left alone."""
        self._inside.restore()
        if self._open_site is not None:
            self._vain[self._open_site] = 0 if self._heard else self._vain.get(self._open_site, 0) + 1
            self._open_site = None

    def _listening(self, function: str, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def watched(*args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                result = original(*args, **kwargs)
            if isinstance(result, torch.Tensor) and result.numel() == 1 and not result.requires_grad:
                self._note(function, args, kwargs, result)
            return result

        return watched

    def _note(self, function: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: torch.Tensor) -> None:
        given = args[0] if args else kwargs.get("input")
        rows = given.shape[0] if isinstance(given, torch.Tensor) and given.ndim else 1
        value: Any = result.detach() if result.device.type != "cpu" else float(result)
        if kwargs.get("reduction") == "sum":
            value = value / max(rows, 1)
        self._heard = True
        self._take(self._name(function, sys._getframe(2)), value, float(max(rows, 1)))

    def _name(self, function: str, frame: FrameType) -> str:
        """What the loss is called: by the words on the lines that led to it, and by its place among others."""
        users = _callers(frame)
        key = tuple((f.f_code, f.f_lineno or 0, _split_in_variable(f)) for f in users)
        name = self._names.get(key)
        if name is None:
            splits = (_split_in_variable(f) or _split_on_line(f) for f in users)
            split = next(filter(None, splits), "validation")
            first = f"{split} loss" if split != "train" else "train loss in evaluation"
            name = first if first not in self._taken else f"{split} {function}"
            self._taken.add(name)
            self._names[key] = name
        return name


def _callers(frame: FrameType) -> list[FrameType]:
    """The user's frames from here out to the script itself; who runs the script is another matter."""
    found: list[FrameType] = []
    for caller in outward(frame):
        if is_user_file(caller.f_code.co_filename):
            found.append(caller)
            if caller.f_code.co_name == "<module>" or len(found) == _MOST_FRAMES:
                break
    return found


def _split_in_variable(frame: FrameType) -> Split:
    """`for split in ("train", "val")`: the same lines run over both."""
    for name in _SPLIT_VARIABLES.intersection(frame.f_code.co_varnames):
        value = frame.f_locals.get(name)
        if isinstance(value, str):
            return split_of(value)
    return ""


def _split_on_line(frame: FrameType) -> Split:
    """The data that a line speaks of: `val_loss = criterion(...)`, `evaluate(model, test_loader)`, `def validate`."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno or 0)
    names = (*_NAMES.findall(line), frame.f_code.co_name)
    found = {split_of(name) for name in names if not _WEAK & set(words_of(name))}
    # Where a line speaks of several, gradients are off for the sake of the data that is not trained on.
    order: tuple[Split, ...] = ("validation", "test", "train")
    return next((split for split in order if split in found), "")
