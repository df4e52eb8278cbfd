"""`torchmedic explain TRACEBACK`: the catalogue on a pasted text."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from tests.cli.test_report import schema
from tests.cli.typed import typed

_MISSING = """\
Traceback (most recent call last):
  File "/srv/proj/train.py", line 2, in <module>
    import cv2
ModuleNotFoundError: No module named 'cv2'
"""
_CHAINED = (
    _MISSING
    + """
The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/proj/train.py", line 4, in <module>
    raise Unheard("images cannot be read") from error
Unheard: images cannot be read
"""
)


def test_a_file_and_standard_input_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "pasted.txt").write_text(_MISSING)
    from_file = typed("explain", str(tmp_path / "pasted.txt"))
    assert from_file.status == 0
    assert "error[ENV009]" in from_file.out
    assert typed("explain", "-", stdin=_MISSING).out == from_file.out


def test_it_says_what_text_tells_and_what_a_run_would_add() -> None:
    answer = typed("explain", "-", stdin=_MISSING).out
    assert "told from the text alone: ModuleNotFoundError, its message, 1 frame (1 of your own code)" in answer
    assert "`torchmedic run SCRIPT` would add: shapes, dtypes" in answer


def test_the_exception_behind_is_explained_where_the_last_is_not() -> None:
    assert "error[ENV009]" in typed("explain", "-", stdin=_CHAINED).out


def test_json_fits_the_schema() -> None:
    verdict = json.loads(typed("explain", "-", "--json", "-", stdin=_CHAINED).out)
    jsonschema.validate(verdict, schema())
    assert verdict["outcome"] == "crashed"
    assert "Unheard" in verdict["from_text"]["known"]


def test_an_unknown_exception_is_said_to_be_unexplained() -> None:
    answer = typed("explain", "-", stdin="my.Refusal: no\n")
    assert answer.status == 0
    assert "not explained: Refusal: no" in answer.out


def test_windows_saves_pasted_text_in_utf_16(tmp_path: Path) -> None:
    (tmp_path / "pasted.txt").write_bytes(_MISSING.replace("\n", "\r\n").encode("utf-16"))
    assert "error[ENV009]" in typed("explain", str(tmp_path / "pasted.txt")).out


_IN_WORKER = """\
Traceback (most recent call last):
  File "/srv/proj/train.py", line 9, in <module>
    for images, labels in loader:
  File "/srv/lib/python3.11/site-packages/torch/utils/data/dataloader.py", line 708, in __next__
    data = self._next_data()
RuntimeError: Caught RuntimeError in DataLoader worker process 1.
Original Traceback (most recent call last):
  File "/srv/lib/python3.11/site-packages/torch/utils/data/_utils/collate.py", line 272, in collate_tensor_fn
    return torch.stack(batch, 0, out=out)
RuntimeError: stack expects each tensor to be equal size, but got [3, 8, 8] at entry 0 and [1, 8, 8] at entry 5
"""
_MEANT = """\
Traceback (most recent call last):
  File "/srv/proj/data.py", line 43, in __getitem__
    return self.idx[i]
AttributeError: 'Images' object has no attribute 'idx'. Did you mean: 'index'?
"""
_SPAWNED = """\
Traceback (most recent call last):
  File "C:\\Users\\me\\lib\\multiprocessing\\spawn.py", line 134, in _check_not_importing_main
    raise RuntimeError('''
RuntimeError:
        An attempt has been made to start a new process before the
        current process has finished its bootstrapping phase.
"""


def test_what_a_worker_raised_is_explained_on_the_line_that_asked_for_the_batch() -> None:
    answer = typed("explain", "-", stdin=_IN_WORKER).out
    assert "error[ERR030]" in answer
    assert "[3, 8, 8] and [1, 8, 8]" in answer
    assert "/srv/proj/train.py:9" in answer


def test_what_python_itself_guesses_is_taken_up() -> None:
    answer = typed("explain", "-", stdin=_MEANT).out
    assert "error[ERR043]" in answer
    assert "`index`?" in answer


def test_a_missing_guard_needs_no_line_of_the_user() -> None:
    assert "error[ERR035]" in typed("explain", "-", stdin=_SPAWNED).out
