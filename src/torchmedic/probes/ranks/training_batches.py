"""Counts the batches that a process receives for training, and not those it is tested on."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any


class TrainingBatches:
    """A pass over a loader is one for training from its first backward on; its batches before that count too."""

    def __init__(self) -> None:
        self.batches = 0
        self.passes = 0
        self._unsure = 0
        self._is_training = False
        self._iterator: Callable[[], Any] = lambda: None

    def note(self, iterator: Any) -> None:
        """A batch was received."""
        if self._iterator() is not iterator:
            self._iterator = weakref.ref(iterator)
            self._unsure, self._is_training = 0, False
        if self._is_training:
            self.batches += 1
        else:
            self._unsure += 1

    def train(self) -> None:
        """A backward pass is made."""
        if not self._is_training and self._unsure:
            self.batches += self._unsure
            self.passes += 1
            self._unsure, self._is_training = 0, True
