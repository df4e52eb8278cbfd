"""The detection bench reads answers and judges them as its page says."""

from __future__ import annotations

import json
from pathlib import Path

from bench.detecting.asking import Ended, from_traceback, tools
from bench.detecting.cases import Answer, Case, cases_in, judge
from bench.detecting.peers import PEERS
from bench.detection import failures, table

CASE = Case("c", Path("c"), "data", frozenset({("train.py", 7), ("prepare.py", 3)}), ("lag_7", "shift"))
HEALTHY = Case("h", Path("h"), "healthy", frozenset(), ())
TRACEBACK = """epoch 1
Traceback (most recent call last):
  File "train.py", line 40, in <module>
  File "{folder}/train.py", line 7, in load
  File "/somewhere/site-packages/torch/nn/functional.py", line 99, in linear
RuntimeError: mat1 and mat2 shapes cannot be multiplied
"""


def test_an_answer_is_exact_when_line_and_cause_are_right() -> None:
    right = judge(CASE, "x", Answer("/a/prepare.py", 3, "`Shift` leaves no past", "DAT"))
    assert (right.found, right.line, right.cause, right.exact) == (True, True, True, True)
    elsewhere = judge(CASE, "x", Answer("train.py", 8, "lag_7", "DAT"))
    assert (elsewhere.found, elsewhere.line, elsewhere.cause, elsewhere.exact) == (True, False, True, False)


def test_a_code_of_another_family_is_no_cause_but_a_tool_without_codes_may_have_one() -> None:
    assert not judge(CASE, "x", Answer("train.py", 7, "lag_7", "MEM")).cause
    assert judge(CASE, "x", Answer("train.py", 7, "lag_7")).exact


def test_silence_is_worth_nothing_and_harmless_on_a_healthy_case() -> None:
    silent = judge(CASE, "x", Answer())
    assert (silent.found, silent.line, silent.cause, silent.exact) == (False,) * 4
    rows = [silent, judge(HEALTHY, "x", Answer()), judge(HEALTHY, "x", Answer(words="alarm"))]
    assert table(rows, ["x"]).splitlines()[-1] == "| x | 0 of 1 | 0 of 1 | 0 of 1 | 0 of 1 | 1 of 2 |"


def test_what_could_not_be_asked_is_told() -> None:
    rows = [judge(CASE, "x", Answer(failure="ran out of time"))]
    assert failures(rows) == "x on c: ran out of time"


def test_a_traceback_points_at_the_innermost_line_of_the_case(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    ended = Ended(tmp_path, TRACEBACK.format(folder=tmp_path), is_late=False)
    answer = from_traceback(ended)
    assert (answer.file, answer.line) == ("train.py", 7)
    assert answer.words == "RuntimeError: mat1 and mat2 shapes cannot be multiplied"
    assert from_traceback(Ended(tmp_path, "epoch 1\n", is_late=False)) == Answer()


def test_cases_are_read_with_the_other_lines_that_are_accepted(tmp_path: Path) -> None:
    truth = {"family": "data", "file": "prepare.py", "line": 3, "lines_ok": [4, "train.py:9"], "names": ["a"]}
    (tmp_path / "c1").mkdir()
    (tmp_path / "c1" / "truth.json").write_text(json.dumps(truth))
    (case,) = cases_in(tmp_path, frozenset())
    assert case.lines == {("prepare.py", 3), ("prepare.py", 4), ("train.py", 9)}
    assert cases_in(tmp_path, frozenset({"c2"})) == []


def test_every_peer_has_a_driver() -> None:
    assert set(PEERS) < set(tools())
    drivers = Path(__file__).resolve().parents[2] / "bench" / "detecting" / "drivers"
    assert all((drivers / f"under_{peer.replace('-', '_')}.py").is_file() for peer in PEERS)
