"""Messages and logs that hold little more than the end of a traceback are explained all the same."""

from __future__ import annotations

import pytest

from torchmedic.cli._pasted import verdict_on
from torchmedic.cli.explain import _decoded

_WATCHDOG = """
[rank1]:[E1118 03:11:09.1 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught collective operation timeout: \
WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=4, Timeout(ms)=600000) ran for 600011 milliseconds before timing out.
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
train.py FAILED
"""
_DLL = 'OSError: [WinError 126] The specified module could not be found. Error loading "C:\\torch\\lib\\fbgemm.dll"'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("KeyError: 'labels'", "ERR040"),
        ("NameError: name 'path' is not defined", "ERR044"),
        ("  [Previous line repeated 984 more times]\nRecursionError: maximum recursion depth exceeded", "ERR105"),
        ("UnicodeDecodeError: 'gbk' codec can't decode byte 0xae in position 18: illegal multibyte sequence", "ERR270"),
        ("AttributeError: module 'numpy' has no attribute 'float'.", "ERR272"),
        ("RuntimeError: CUDA error: no kernel image is available for execution on the device", "ERR275"),
        (_WATCHDOG, "ERR274"),
        (_DLL, "ENV013"),
    ],
)
def test_the_end_of_a_traceback_is_explained(text: str, code: str) -> None:
    verdict = verdict_on(text)
    assert verdict is not None
    assert [d.code for d in verdict.diagnoses] == [code]


def test_a_parameter_that_was_renamed_is_told_by_its_new_name() -> None:
    verdict = verdict_on("TypeError: Trainer.__init__() got an unexpected keyword argument 'tokenizer'")
    assert verdict is not None
    assert "processing_class" in verdict.diagnoses[0].remedies[0].title


def test_the_text_of_a_chinese_console_is_read() -> None:
    text = "回溯 (最近一次调用最后):\nValueError: 数据 不对\n"
    assert _decoded(text.encode("gbk"), "log.txt") == text
