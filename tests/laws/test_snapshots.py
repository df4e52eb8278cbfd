"""The comparison of snapshots forgives a last digit and nothing else."""

from __future__ import annotations

import pytest

from tests.snapshots import assert_same_text

_TEXT = "  --> train.py:41\n   = note: loss 6.91 at step 213, lr 1e-05, 3 of 753 groups\n"


@pytest.mark.parametrize("close", ["loss 6.9 at", "loss 6.88 at"])
def test_another_last_digit_is_the_same_text(close: str) -> None:
    assert_same_text(_TEXT.replace("loss 6.91 at", close), _TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("6.91", "7.91"),
        ("1e-05", "1e-04"),
        (":41", ":42"),
        ("213", "214"),
        ("3 of", "4 of"),
        ("note", "help"),
        ("6.91", "nan"),
    ],
)
def test_anything_else_is_another_text(old: str, new: str) -> None:
    with pytest.raises(AssertionError):
        assert_same_text(_TEXT.replace(old, new), _TEXT)
