"""`torchmedic.log`: tell the doctor a number that it cannot see by itself."""

from __future__ import annotations

from typing import Any, Protocol

from torchmedic.facts import EarlyStop


class Listener(Protocol):
    """Who is told, while a run is watched."""

    def take(self, name: str, value: Any, source: str) -> None:
        """A loss or a score."""

    def take_stop(self, stop: EarlyStop) -> None:
        """The state of an early stopping."""


_listeners: list[Listener] = []


def log(name: str, value: Any) -> None:
    """Note a loss or a score, for `torchmedic curves` and the report; free when nothing watches.

    A name says what it is: `val_loss`, `test accuracy`, `train/f1`. The value is a number or a tensor with one element,
    which may lie on a device: it is not waited for.

    >>> log("val_accuracy", 0.93)
    """
    for listener in _listeners:
        listener.take(name, value, "log")


def tell(name: str, value: Any, source: str) -> None:
    """Pass a number that a tracker or a framework was given on to whoever watches."""
    for listener in _listeners:
        listener.take(name, value, source)


def tell_stop(stop: EarlyStop) -> None:
    """Pass the state of an early stopping on to whoever watches."""
    for listener in _listeners:
        listener.take_stop(stop)


def is_watched() -> bool:
    return bool(_listeners)


def listen(listener: Listener) -> None:
    _listeners.append(listener)


def stop_listening(listener: Listener) -> None:
    if listener in _listeners:
        _listeners.remove(listener)
