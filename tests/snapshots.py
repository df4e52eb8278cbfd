"""Snapshots that another processor reproduces: words and whole numbers are exact, decimals differ in a last digit.

Sums are ordered differently by each instruction set, so a loss printed with three digits is 6.90 here and 6.91 there.
Which build of torch is installed (`+cpu`, `+cu130`) makes no difference either.
"""

from __future__ import annotations

import re

import pytest

_DECIMAL = re.compile(r"(?<![\w.])\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)(?![\w.]*\d)")
_BUILD = re.compile(r"(?<=\d)\+(?:cpu|cu\d+)\b|(?<=\d, )(?:cpu|cu\d+)(?=\))")
_CLOSE = 0.02


def assert_same_text(text: str, expected: str) -> None:
    """Fail with a readable difference unless the texts agree but for the last digits of their decimals."""
    text, expected = _BUILD.sub("", text), _BUILD.sub("", expected)
    if _words(text) == _words(expected) and _decimals(text) == pytest.approx(_decimals(expected), rel=_CLOSE):
        return
    assert text == expected


def _words(text: str) -> str:
    return _DECIMAL.sub("#", text)


def _decimals(text: str) -> list[float]:
    return [float(number) for number in _DECIMAL.findall(text)]
