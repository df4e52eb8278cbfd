"""`torchmedic explain TRACEBACK`: the catalogue on a pasted text."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.cli.test_report import schema
from tests.cli.typed import typed
from torchmedic.cli._pasted import verdict_on
from torchmedic.findings import Diagnosis

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


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("mat1 and mat2 shapes cannot be multiplied (64x44944 and 400x120)", "ERR002"),
        ("RuntimeError: Expected all tensors to be on the same device, but found at least two devices", "ERR011"),
        ("IndexError: Target 5 is out of bounds.", "ERR019"),
        ("unhashable type: 'list'", "ERR102"),
    ],
)
def test_a_message_alone_is_explained_without_a_place(message: str, code: str) -> None:
    for answer in (typed("explain", "-", stdin=message), typed("explain", message)):
        assert answer.status == 0
        assert f"error[{code}]" in answer.out
        assert "-->" not in answer.out
        assert "would add: the line it comes from" in answer.out


def test_prose_is_no_message() -> None:
    answer = typed("explain", "-", stdin="my training does not work, please help\n")
    assert answer.status != 0
    assert "no traceback in it" in answer.err


def test_what_a_kernel_printed_before_the_traceback_is_heard() -> None:
    pasted = """\
../aten/src/ATen/native/cuda/Indexing.cu:1146: block: [54,0,0] Assertion `srcIndex < srcSelectDimSize` failed.
Traceback (most recent call last):
  File "train.py", line 77, in <module>
    loss.backward()
RuntimeError: CUDA error: device-side assert triggered
"""
    told = " ".join(typed("explain", "-", stdin=pasted).out.split())
    assert "an embedding or `index_select` got an index beyond its table" in told


def test_a_linear_layer_is_told_from_the_file_and_the_sizes() -> None:
    pasted = """\
Traceback (most recent call last):
  File "/srv/net.py", line 15, in forward
    x = F.relu(self.fc1(x))
  File "/srv/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 114, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x44944 and 400x120)
"""
    answer = typed("explain", "-", stdin=pasted).out
    assert "`self.fc1` takes 400 features" in answer
    assert "in_features=44944" in answer


def _of_sizes(sizes: str) -> Diagnosis:
    pasted = f"""\
Traceback (most recent call last):
  File "/srv/net.py", line 15, in forward
    x = F.relu(self.fc1(x))
  File "/srv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1778, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
  File "/srv/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 114, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: mat1 and mat2 shapes cannot be multiplied ({sizes})
"""
    verdict = verdict_on(pasted)
    assert verdict is not None
    return verdict.diagnoses[0]


@pytest.mark.parametrize(
    ("sizes", "confidence", "first"),
    [
        ("1792x28 and 784x256", "likely", "flatten before `self.fc1`: `x = x.flatten(1)`"),
        ("5120x5 and 400x120", "likely", "flatten before `self.fc1`: `x = x.flatten(1)`"),
        ("3840x50 and 3000x10", "possible", "flatten before `self.fc1`: `x = x.flatten(1)`"),
        ("64x128 and 256x10", "likely", "build `self.fc1` with `in_features=128`: `Linear(128, 10)`"),
        ("64x120 and 400x120", "proven", "build `self.fc1` with `in_features=120`: `Linear(120, 120)`"),
        ("64x0 and 400x120", "proven", "build `self.fc1` with `in_features=0`: `Linear(0, 120)`"),
    ],
)
def test_an_input_that_may_be_unflattened_is_told_as_far_as_its_sizes_tell(
    sizes: str, confidence: str, first: str
) -> None:
    said = _of_sizes(sizes)
    assert (said.confidence, said.remedies[0].title) == (confidence, first)


def test_a_layer_inside_one_of_a_library_does_not_get_the_name_of_the_outer_one() -> None:
    pasted = """\
Traceback (most recent call last):
  File "/srv/net.py", line 15, in forward
    x = self.encoder(x)
  File "/srv/lib/python3.11/site-packages/timm/layers/mlp.py", line 40, in forward
    x = self.fc1(x)
  File "/srv/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 114, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x44944 and 400x120)
"""
    assert "the layer takes 400 features" in typed("explain", "-", stdin=pasted).out


def test_the_sizes_alone_advise_to_flatten_too() -> None:
    told = " ".join(typed("explain", "mat1 and mat2 shapes cannot be multiplied (1792x28 and 784x256)").out.split())
    assert told.index("`Linear(784, 256)`: flatten its input") < told.index("`in_features=28`")


_EMPTY_PICTURE = """\
Traceback (most recent call last):
  File "C:\\\\seg\\\\train.py", line 61, in <module>
    for i, (img, mask) in enumerate(train_dl):
  File "C:\\\\env\\\\lib\\\\site-packages\\\\torch\\\\_utils.py", line 543, in reraise
    raise exception
cv2.error: Caught error in DataLoader worker process 3.
Original Traceback (most recent call last):
  File "C:\\\\seg\\\\dataset.py", line 27, in __getitem__
    img = cv2.cvtColor(img, cv2.COLOR_BGR2RGB)
cv2.error: OpenCV(4.6.0) color.cpp:182: error: (-215:Assertion failed) !_src.empty() in function 'cv::cvtColor'
"""


def test_a_picture_that_was_not_read_is_told_from_the_workers_own_traceback() -> None:
    answer = typed("explain", "-", stdin=_EMPTY_PICTURE).out
    assert "error[ERR103]" in answer
    assert "dataset.py:27" in answer


def test_what_a_worker_said_is_shown_where_no_rule_knows_it() -> None:
    pasted = _EMPTY_PICTURE.replace("!_src.empty()", "scn == 3")
    told = " ".join(typed("explain", "-", stdin=pasted).out.split())
    assert "not explained: cv2.error: OpenCV(4.6.0)" in told
