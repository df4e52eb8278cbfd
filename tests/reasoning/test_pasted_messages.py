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
_SHADOWED = """
AttributeError: module 'random' has no attribute 'randint' (consider renaming '/w/random.py' since it has the \
same name as the standard library module named 'random' and the import system gives it precedence)
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
        ("RuntimeError: zero-dimensional tensor (at position 6) cannot be concatenated", "ERR029"),
        ("RuntimeError: Trying to resize storage that is not resizable", "ERR030"),
        ("TypeError: '<=' not supported between instances of 'float' and 'str'", "ERR064"),
        ("ValueError: Tried to step 51 times. The specified number of total steps is 50", "WIR123"),
        ("RuntimeError: Expected to have finished reduction in the prior iteration before starting a new", "WIR098"),
        (r"SyntaxError: Non-UTF-8 code starting with '\xe9' in file /w/a.py on line 3, but no encoding", "ERR050"),
        (_SHADOWED, "ENV010"),
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


def said_of(text: str) -> str:
    verdict = verdict_on(text)
    assert verdict is not None
    found = verdict.diagnoses[0]
    return "\n".join([found.headline, *(f"{remedy.title} {remedy.detail or ''}" for remedy in found.remedies)])


def test_nothing_is_said_of_lines_that_a_text_does_not_show() -> None:
    frame = 'Traceback (most recent call last):\n  File "/w/train.py", line 9, in <module>\n    {}\n'
    library = '  File "/v/site-packages/torch/amp/grad_scaler.py", line 342, in unscale_\n    raise RuntimeError(\n'
    again = "RuntimeError: unscale_() has already been called on this optimizer since the last update().\n"
    assert "never called" not in said_of(frame.format("scaler.unscale_(opt)") + library + again)
    unbound = "UnboundLocalError: cannot access local variable 'loss' where it is not associated with a value\n"
    assert "no line" not in said_of(frame.format("return loss.item()") + unbound)


def test_a_message_names_what_its_numbers_mean() -> None:
    assert "ignore_index=-1" in said_of("IndexError: Target -1 is out of bounds.")
    assert "8 outputs" in said_of("IndexError: Target 7 is out of bounds.")
    sizes = (
        "RuntimeError: Sizes of tensors must match except in dimension 1. Expected size {} but got size {} for tensor"
    )
    assert "odd size is rounded" in said_of(sizes.format(24, 25))
    assert "odd size is rounded" not in said_of(sizes.format(24, 48))
    unused = "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one.\n"
    assert "number 4" in said_of(
        "Traceback (most recent call last):\n"
        + unused
        + "Parameter indices which did not receive grad for rank 1: 4 5\n"
    )


@pytest.mark.parametrize(("name", "meant"), [("torchvison", "torchvision"), ("pnadas", "pandas"), ("nunpy", "numpy")])
def test_nothing_is_installed_under_a_misspelt_name(name: str, meant: str) -> None:
    said = said_of(f"ModuleNotFoundError: No module named '{name}'")
    assert f"install {meant}" in said
    assert f"install {name}" not in said


def test_the_text_of_a_chinese_console_is_read() -> None:
    text = "回溯 (最近一次调用最后):\nValueError: 数据 不对\n"
    assert _decoded(text.encode("gbk"), "log.txt") == text
