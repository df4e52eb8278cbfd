"""What is said in Chinese: chosen by option, variable or locale, for saved runs too; JSON stays English."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from tests.catalogue import fixture_folder
from tests.cli.test_report import a_saved_run
from tests.running import run_watched
from torchmedic.cli import main
from torchmedic.cli.symptoms import matching
from torchmedic.findings import Symptom, Verdict
from torchmedic.render.html import Report, page
from torchmedic.render.plain import to_json
from torchmedic.render.text import draw
from torchmedic.translation import choose, said
from torchmedic.translation.files import po_path, read_po
from torchmedic.translation.phrases import has_prose
from torchmedic.translation.typesetting import cells

_FIXTURES = ["log_of_zero", "unregistered_module", "softmax_before_cross_entropy", "unmultipliable_shapes"]


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    choose("en")


def invoke(*arguments: str, **variables: str | None) -> str:
    """What a command prints."""
    done = CliRunner().invoke(main, arguments, env={"TORCHMEDIC_LANG": None, **variables})
    assert done.exit_code == 0, done.output
    return done.output


def drawn(verdict: Verdict, width: int) -> str:
    stream = io.StringIO()
    draw(verdict, Console(file=stream, width=width, color_system=None))
    return stream.getvalue()


def prose_lines(text: str) -> list[str]:
    """Lines of a drawn verdict that are ours: no code windows."""
    return [line for line in text.splitlines() if not re.match(r"^ *\d+ \||^ *(-->|:::)", line)]


@pytest.mark.parametrize("name", _FIXTURES)
def test_a_verdict_is_chinese_throughout_and_its_json_is_not(name: str) -> None:
    watched = run_watched(fixture_folder(name) / "bad.py")
    english = to_json(watched.verdict)
    choose("zh")
    for width in (80, 200):
        text = drawn(watched.verdict, width)
        assert [line for line in prose_lines(text) if has_prose(line) and "explain" not in line] == []
        assert max(map(cells, prose_lines(text))) <= width
    html = page(Report(verdict=watched.verdict, run=watched.run))
    assert '<html lang="zh">' in html
    assert said(watched.verdict.diagnoses[0].headline).split("`")[0] in html
    assert to_json(watched.verdict) == english


@pytest.mark.parametrize(
    ("options", "variables"),
    [
        (["--lang", "zh"], {}),
        ([], {"TORCHMEDIC_LANG": "zh"}),
        ([], {"LC_ALL": "zh_CN.UTF-8"}),
        (["--lang", "zh"], {"TORCHMEDIC_LANG": "en"}),
    ],
)
def test_the_language_is_chosen_by_option_variable_or_locale(options: list[str], variables: dict[str, str]) -> None:
    assert "发生了什么" in invoke("explain", *options, "NUM004", **variables)


def test_english_is_what_other_locales_get() -> None:
    assert "What happened" in invoke("explain", "NUM004", LC_ALL="de_DE.UTF-8")
    assert "What happened" in invoke("explain", "--lang", "en", "NUM004", TORCHMEDIC_LANG="zh")


def test_a_page_has_its_example_and_fits_the_terminal() -> None:
    shown = invoke("explain", "--lang", "zh", "NUM004", COLUMNS="80")
    assert "(table - mean) / std" in shown
    assert "english:" not in shown
    assert max(cells(line) for line in shown.splitlines() if not line.startswith("    ")) <= 80


def test_the_json_of_a_rule_is_english() -> None:
    assert "What happened" in json.loads(invoke("explain", "--lang", "zh", "--json", "-", "NUM004"))["rule"]["page"]


def test_lists_and_help_are_chinese() -> None:
    assert "损失为 NaN 或无穷大" in invoke("rules", "--lang", "zh", "NUM")
    assert "除数是标准差或方差，而它是 0" in invoke("symptoms", "--lang", "zh", "loss", "is", "nan")
    assert "运行未经改动的训练脚本" in invoke("run", "--lang", "zh", "--help")
    assert "查明 PyTorch 训练为什么出错" in invoke("--help", TORCHMEDIC_LANG="zh")


@pytest.mark.parametrize(
    ("words", "said_first"),
    [
        (["run", "--lang", "zh"], "torchmedic：缺少参数 'SCRIPT"),
        (
            ["explain", "--lang", "zh", "--json"],
            "torchmedic：选项 '--json' 需要一个值；用法见 `torchmedic explain --help`",
        ),
        (["report", "--lang=zh", "--nonsense", "x"], "torchmedic：没有 '--nonsense' 这个选项；用法见"),
        (["report", "--nonsense", "--lang", "zh"], "torchmedic：没有 '--nonsense' 这个选项；用法见"),
        (["run", "--lang", "zh", "--on-sick", "maybe", "x.py"], "'--on-sick' 的值无效：'maybe' 不在可选值之中"),
    ],
)
def test_what_click_says_is_chinese_too(words: list[str], said_first: str) -> None:
    done = CliRunner().invoke(main, words, env={"TORCHMEDIC_LANG": None, "LC_ALL": "C"}, prog_name="torchmedic")
    assert done.exit_code == 2
    assert said_first in done.output
    assert done.output.count("\n") == 1


def test_help_and_unknown_commands_are_chinese_by_variable() -> None:
    shown = invoke("--help", TORCHMEDIC_LANG="zh") + invoke("curves", "--help", TORCHMEDIC_LANG="zh")
    assert [word for word in ("Usage", "Options", "Commands", "default") if word in shown] == []
    done = CliRunner().invoke(main, ["wat"], env={"TORCHMEDIC_LANG": "zh"})
    assert "没有 'wat' 这个命令；" in done.output


def complaints(*words: str, **variables: str) -> str:
    """What a command of a new process says on standard error."""
    environment = {**os.environ, "LC_ALL": "C", **variables}
    done = subprocess.run(
        [sys.executable, "-m", "torchmedic", *words], capture_output=True, text=True, env=environment, check=False
    )
    return done.stderr


def test_an_unknown_language_is_told_once() -> None:
    told = "torchmedic: TORCHMEDIC_LANG=klingon: no such language (known: en, zh); English is used\n"
    assert complaints("explain", "NUM004", TORCHMEDIC_LANG="klingon") == told
    assert complaints("--help", TORCHMEDIC_LANG="klingon") == told
    assert complaints("explain", "--lang", "zh", "NUM004", TORCHMEDIC_LANG="klingon") == "", "the option decides"


@pytest.mark.parametrize("name", ["en_GB.UTF-8", "C", "C.UTF-8", "POSIX", "zh_CN.UTF-8", "zh-Hans", ""])
def test_a_known_language_is_no_complaint(name: str) -> None:
    assert complaints("explain", "NUM004", TORCHMEDIC_LANG=name) == ""


def test_a_watched_script_does_not_tell_it_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("from torchmedic.translation import said\nprint(said('healthy'))\n")
    told = complaints("run", "--quiet", str(script), TORCHMEDIC_LANG="klingon")
    assert told.count("no such language") == 1


def test_what_follows_the_script_is_not_for_us() -> None:
    words = ["missing.py", "--lang", "zh"]
    done = CliRunner().invoke(main, ["run", *words], env={"TORCHMEDIC_LANG": None, "LC_ALL": "C"})
    assert done.output == "torchmedic: missing.py: no such script\n"


def test_the_words_of_click_lose_no_place() -> None:
    place = re.compile(r"\{\w+(?:!r)?\}")
    entries = read_po(po_path("zh").with_name("click.po"))
    assert len(entries) > 40
    assert [e for e in entries if sorted(place.findall(e.english)) != sorted(place.findall(e.translated))] == []


def test_a_symptom_may_be_told_in_chinese() -> None:
    choose("zh")
    assert matching("损失变成 nan 了", list(Symptom)) == [Symptom.LOSS_NAN]
    assert matching("训练卡住", list(Symptom)) == [Symptom.STUCK]
    assert matching("权重不动", list(Symptom)) == [Symptom.WEIGHTS_STILL]


def test_a_saved_run_is_reported_in_either_language(tmp_path: Path) -> None:
    saved = a_saved_run(tmp_path)
    english, chinese = invoke("report", str(saved), LANG="C"), invoke("report", "--lang", "zh", str(saved))
    assert "error[" in english
    assert "错误[" in chinese
    assert re.findall(r"[A-Z]{3}\d{3}", english) == re.findall(r"[A-Z]{3}\d{3}", chinese)


def test_the_class_and_the_words_of_an_exception_are_not_translated() -> None:
    pasted = """Traceback (most recent call last):
  File "train.py", line 3, in <module>
    cv2.cvtColor(None, 4)
cv2.error: OpenCV(4.6.0) color.cpp:182: error: (-215:Assertion failed) scn == 3 in function 'cv::cvtColor'
"""
    answer = CliRunner().invoke(main, ["explain", "--lang", "zh", "-"], input=pasted, env={"COLUMNS": "200"}).output
    assert "cv2.error: OpenCV(4.6.0) color.cpp:182: error: (-215:Assertion failed)" in answer
    assert "错误" not in answer
