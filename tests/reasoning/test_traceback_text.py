"""Tracebacks as people paste them, read back into facts."""

from __future__ import annotations

import textwrap
import time
import traceback

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from torchmedic.facts import Crash
from torchmedic.traceback_text import parse_traceback

PLAIN = """\
Traceback (most recent call last):
  File "/srv/proj/train.py", line 12, in <module>
    loss = step(batch)
           ^^^^^^^^^^^
  File "/srv/proj/model.py", line 40, in step
    return self.fc(
        x
    )
  File "/opt/env/lib/python3.12/site-packages/torch/nn/modules/linear.py", line 125, in forward
    return F.linear(input, self.weight, self.bias)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x784 and 256x10)
"""


def read(text: str) -> Crash:
    crash = parse_traceback(textwrap.dedent(text))
    assert crash is not None
    assert crash.source == "text"
    return crash


def user_lines(crash: Crash) -> list[tuple[str, int, str]]:
    return [(f.location.file, f.location.line, f.location.source) for f in crash.frames if f.is_user]


def test_a_plain_traceback() -> None:
    crash = read(PLAIN)
    assert crash.exception == "RuntimeError"
    assert crash.message == "mat1 and mat2 shapes cannot be multiplied (64x784 and 256x10)"
    assert user_lines(crash) == [
        ("/srv/proj/train.py", 12, "loss = step(batch)"),
        ("/srv/proj/model.py", 40, "return self.fc("),
    ]
    assert [f.is_user for f in crash.frames] == [True, True, False]
    assert crash.frames[1].location.function == "step"


def test_what_python_prints_is_read_as_it_was_raised() -> None:
    try:
        try:
            raise KeyError("weight")
        except KeyError as error:
            raise ValueError("two\nlines") from error
    except ValueError as error:
        live = error
        crash = read("".join(traceback.format_exception(error)))
    assert (crash.exception, crash.message) == ("ValueError", "two\nlines")
    assert crash.cause is not None
    assert (crash.cause.exception, crash.cause.message) == ("KeyError", "'weight'")
    assert live.__traceback__ is not None
    assert crash.frames[0].location.line == live.__traceback__.tb_lineno
    assert "raise ValueError" in crash.frames[0].location.source


def test_the_context_is_the_cause_too() -> None:
    text = (
        PLAIN + "\nDuring handling of the above exception, another exception occurred:\n\n" + PLAIN.replace("mat1", "x")
    )
    crash = read(text)
    assert crash.message.startswith("x and")
    assert crash.cause is not None
    assert crash.cause.message.startswith("mat1 and")


def test_a_script_that_does_not_compile_has_no_header() -> None:
    crash = read(
        r"""
          File "C:\Users\me\fog.py", line 3
            path = 'Experiments\NoFog'
                   ^^^^^^^^^^^^^^^^^^^
        SyntaxError: (unicode error) 'unicodeescape' codec can't decode bytes in position 11-12: malformed \N
        """
    )
    assert crash.syntax is not None
    assert (crash.syntax.file, crash.syntax.line) == ("C:\\Users\\me\\fog.py", 3)
    assert crash.syntax_column == 8
    assert crash.frames == ()


def test_a_cell_that_does_not_compile() -> None:
    crash = read("  Cell In[3], line 2\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n")
    assert crash.syntax is not None
    assert (crash.syntax.file, crash.syntax.line, crash.syntax.source) == ("Cell In[3]", 2, "x = = 1")
    assert crash.syntax_column == 5


def test_the_error_of_a_worker_is_the_cause() -> None:
    crash = read(
        """
        Traceback (most recent call last):
          File "train.py", line 10, in <module>
            for batch in loader:
          File "/env/lib/python3.11/site-packages/torch/_utils.py", line 794, in reraise
            raise exception
        IndexError: Caught IndexError in DataLoader worker process 0.
        Original Traceback (most recent call last):
          File "/env/lib/python3.11/site-packages/torch/utils/data/_utils/worker.py", line 374, in _worker_loop
            data = fetcher.fetch(index)
          File "data.py", line 8, in __getitem__
            return self.rows[i + 9]
                   ~~~~~~~~~^^^^^^^
        IndexError: index 9 is out of bounds for dimension 0 with size 3

        epoch 2 was the last
        """
    )
    assert crash.message == "Caught IndexError in DataLoader worker process 0."
    assert user_lines(crash) == [("train.py", 10, "for batch in loader:")]
    assert crash.cause is not None
    assert crash.cause.message == "index 9 is out of bounds for dimension 0 with size 3"
    assert user_lines(crash.cause) == [("data.py", 8, "return self.rows[i + 9]")]


def test_an_exception_group_is_its_first_member() -> None:
    def fail() -> None:
        raise ValueError("inner")

    members = []
    for _ in range(2):
        try:
            fail()
        except ValueError as error:
            members.append(error)
    try:
        raise ExceptionGroup("many", members)
    except ExceptionGroup as group:
        crash = read("".join(traceback.format_exception(group)))
    assert (crash.exception, crash.message) == ("ValueError", "inner")
    assert crash.notes == ("inside ExceptionGroup: many (2 sub-exceptions)",)
    assert crash.frames[-1].location.function == "fail"


def test_jupyter_with_colours_and_arrows() -> None:
    crash = read(
        "\x1b[0;31m---------------------------------------------------------------------------\x1b[0m\n"
        "\x1b[0;31mRuntimeError\x1b[0m                              Traceback (most recent call last)\n"
        "Cell \x1b[0;32mIn[3], line 5\x1b[0m\n"
        "\x1b[1;32m      3\x1b[0m x = torch.zeros(2, 5)\n"
        "\x1b[0;32m----> 5\x1b[0m y = \x1b[43mnet\x1b[49m(x)\n"
        "\n"
        "File \x1b[0;32m~/miniconda3/lib/python3.10/site-packages/torch/nn/modules/module.py:1501\x1b[0m, in "
        "\x1b[0;36mModule._call_impl\x1b[0;34m(self, *args, **kwargs)\x1b[0m\n"
        "\x1b[1;32m   1499\x1b[0m         or _global_hooks\n"
        "\x1b[0;32m-> 1501\x1b[0m     return forward_call(*args, **kwargs)\n"
        "\n"
        "\x1b[0;31mRuntimeError\x1b[0m: mat1 and mat2 shapes cannot be multiplied (2x5 and 4x3)\n"
    )
    assert crash.message == "mat1 and mat2 shapes cannot be multiplied (2x5 and 4x3)"
    assert user_lines(crash) == [("Cell In[3]", 5, "y = net(x)")]
    library = crash.frames[1]
    assert (library.location.line, library.location.function, library.is_user) == (1501, "Module._call_impl", False)


@pytest.mark.parametrize(
    ("place", "file"),
    [
        ("<ipython-input-3-0a1b2c> in forward(self, x)", "<ipython-input-3-0a1b2c>"),
        ("~/proj/model.py in forward(self, x)", "~/proj/model.py"),
        ("Input In [7], in forward(self, x)", "Cell In[7]"),
    ],
)
def test_older_jupyter(place: str, file: str) -> None:
    crash = read(
        f"TypeError                                 Traceback (most recent call last)\n{place}\n"
        "      4     def forward(self, x):\n----> 5         return x + None\n\nTypeError: unsupported operand\n"
    )
    assert user_lines(crash) == [(file, 5, "return x + None")]
    assert crash.frames[0].location.function == "forward"


def test_a_rich_box_even_where_it_breaks_a_path() -> None:
    crash = read(
        """
        ╭───────────────────── Traceback (most recent call last) ──────────────────────╮
        │ /srv/train.py:41 in <module>                                             │
        │                                                                              │
        │   40 │   import torch.nn as nn                                               │
        │ ❱ 41 │   nn.Linear(4,3)(torch.zeros(2,5))                                    │
        │   42                                                                         │
        │                                                                              │
        │ /opt/env/lib/python3.11/site-packages/torch/nn/modules/module.py:177         │
        │ 8 in _wrapped_call_impl                                                      │
        │                                                                              │
        │ ❱ 1778 │   │   │   return self._call_impl(*args, **kwargs)                   │
        ╰──────────────────────────────────────────────────────────────────────────────╯
        RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x5 and 4x3)
        """
    )
    assert crash.exception == "RuntimeError"
    assert user_lines(crash) == [("/srv/train.py", 41, "nn.Linear(4,3)(torch.zeros(2,5))")]
    assert (crash.frames[1].location.line, crash.frames[1].is_user) == (1778, False)


@pytest.mark.parametrize(
    "prefix",
    [
        "[rank0]: ",
        "[default0]:",
        "(train pid=4711) ",
        "(4711) ",
        "2026-05-01 10:00:00,123 ERROR ",
        "[10:00:00] worker | ",
    ],
)
def test_lines_with_a_prefix(prefix: str) -> None:
    crash = read("".join(prefix + line + "\n" for line in PLAIN.splitlines()))
    assert crash.message == "mat1 and mat2 shapes cannot be multiplied (64x784 and 256x10)"
    assert user_lines(crash)[0] == ("/srv/proj/train.py", 12, "loss = step(batch)")


def test_ranks_that_write_between_each_other() -> None:
    other = PLAIN.replace("RuntimeError: mat1", "torch.distributed.DistBackendError: NCCL error: peer gone; mat1")
    mixed = [f"[rank0]: {a}\n[rank1]: {b}\n" for a, b in zip(PLAIN.splitlines(), other.splitlines(), strict=True)]
    launcher = PLAIN.replace("RuntimeError: mat1", "torch.distributed.elastic.errors.ChildFailedError: rank 0; mat1")
    crash = read("".join(mixed) + launcher)
    assert crash.exception == "RuntimeError"
    assert len(crash.frames) == 3


def test_of_several_tracebacks_the_last_counts() -> None:
    crash = read(f"start\n{PLAIN}\nretrying\n{PLAIN.replace('64x784', '1x2')}\nwandb: bye\n")
    assert "1x2" in crash.message
    assert crash.cause is None
    assert "wandb" not in crash.message


def test_a_message_of_many_lines_is_kept() -> None:
    crash = read(
        """
        Traceback (most recent call last):
          File "a.py", line 1, in <module>
            model.load_state_dict(state)
        RuntimeError: Error(s) in loading state_dict for Net:
        \tMissing key(s) in state_dict: "fc.weight".
        \tUnexpected key(s) in state_dict: "head.weight".
        """
    )
    assert crash.message.count("\n") == 2
    assert "head.weight" in crash.message


@pytest.mark.parametrize("name", ["KeyboardInterrupt", "NotImplementedError", "my.pkg.Refused", "socket.gaierror"])
def test_an_exception_without_a_message(name: str) -> None:
    crash = read(f'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n{name}\n')
    assert (crash.exception, crash.message) == (name, "")


def test_the_last_line_alone_is_enough() -> None:
    crash = read("it said\nRuntimeError: expected scalar type Float but found Double")
    assert crash.message == "expected scalar type Float but found Double"
    assert crash.frames == ()


@pytest.mark.parametrize(
    "text",
    ["", "all is well", "Note: read this", "Traceback (most recent call last):", '  File "a.py", line 3, in f\n'],
)
def test_no_traceback(text: str) -> None:
    assert parse_traceback(text) is None


def test_secrets_are_hidden() -> None:
    crash = read(
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n'
        '    login(token="hunter2hunter2")\nOSError: https://me:hunter2hunter2@host/x failed\n'
    )
    assert "hunter2" not in repr(crash)


_pieces = st.sampled_from(
    [
        *PLAIN.splitlines(),
        "Original Traceback (most recent call last):",
        "  + Exception Group Traceback (most recent call last):",
        "  +-+---------------- 1 ----------------",
        "  | ValueError: x",
        "The above exception was the direct cause of the following exception:",
        "╭──── Traceback (most recent call last) ────╮",
        "│ /a/b.py:3 in f │",
        "╰────╯",
        "----> 5 x = y",
        "Cell In[3], line 99999999999999999999",
        "[rank0]: Traceback (most recent call last):",
        "2026-01-01 ERROR Traceback (most recent call last):",
        "SyntaxError: x",
        "    ^^^^",
        "",
        "\x1b[31m",
    ]
)


@given(st.text() | st.lists(_pieces | st.text(max_size=30), max_size=30).map("\n".join))
@example('\x00\ud800\u2028 File "x", line 0, in \nError:')
@settings(max_examples=400, deadline=None)
def test_the_parser_never_raises(text: str) -> None:
    crash = parse_traceback(text)
    assert crash is None or crash.exception


@pytest.mark.parametrize("unit", ["-", " ", "~^", "+-", "│ ", ":1", "File a:1", "Traceback (most recent call last)"])
def test_hostile_lines_take_no_time(unit: str) -> None:
    began = time.process_time()
    parse_traceback(PLAIN.replace("RuntimeError", "x") + (unit * 200_000)[:400_000] + "\n" + (unit * 300 + "!\n") * 200)
    assert time.process_time() - began < 5


def test_deep_recursion_is_cut() -> None:
    frame = '  File "a.py", line 2, in f\n    f()\n'
    crash = read("Traceback (most recent call last):\n" + frame * 5000 + "RecursionError: maximum recursion depth\n")
    assert crash.exception == "RecursionError"
    assert len(crash.frames) <= 200


def test_attributes_that_other_lines_read_are_offered_for_a_missing_one() -> None:
    crash = parse_traceback(
        """Traceback (most recent call last):
  File "train.py", line 40, in main
    ckpt = torch.load(args.resume)
RuntimeError: no

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "train.py", line 44, in main
    logger.error("could not resume %s" % args.resume_path)
AttributeError: 'Namespace' object has no attribute 'resume_path'
"""
    )
    assert crash is not None
    assert crash.handling
    assert crash.near_names == ("resume",)


def test_what_torchscript_quotes_belongs_to_its_message() -> None:
    quoted = 'The original call is:\n  File "/w/a.py", line 3\n    y = ~mask\n         ~~~~ <--- HERE\n'
    crash = read(PLAIN.rpartition("RuntimeError")[0] + "RuntimeError: \nArguments for call are not valid.\n\n" + quoted)
    assert crash.message.endswith("<--- HERE")
