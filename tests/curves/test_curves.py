"""The sentence on the stop, and the picture."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.font_manager import fontManager

from torchmedic.cli import main
from torchmedic.curves import Curves, curves_of
from torchmedic.facts import EarlyStop, MetricPoint, Observation, PlannedEpochs, Run, RunInfo
from torchmedic.render import curves as drawing
from torchmedic.settings import RUN_FILE
from torchmedic.store import append, create
from torchmedic.translation import choose


def _series(name: str, values: Sequence[float], source: str = "log") -> list[Observation]:
    return [
        MetricPoint(step=10 * i, epoch=float(i), name=name, value=value, source=source)
        for i, value in enumerate(values, start=1)
    ]


def _stop(values: Sequence[float], restored: bool = True) -> EarlyStop:
    best = min(range(len(values)), key=lambda i: values[i])
    waited = len(values) - 1 - best
    return EarlyStop(
        step=None, monitor="val_loss", mode="min", patience=max(waited, 1), min_delta=0.0, epochs=len(values),
        best_epoch=best + 1, best=values[best], waited=waited, stopped=True, restored=restored, source="torchmedic",
    )  # fmt: skip


def _curves(*observations: Observation) -> Curves:
    found = curves_of(Run(observations=observations))
    assert found is not None
    return found


_OVERFITTED = [1 / (1 + i / 5) + 0.002 * max(0, i - 20) ** 1.3 for i in range(60)]


def test_overfitting_makes_the_stop_right() -> None:
    train = _series("train loss", [1 / (1 + i / 4) for i in range(60)], "phase")
    plan = PlannedEpochs(step=None, epochs=200, source="loop")
    found = _curves(*_series("val_loss", _OVERFITTED), *train, _stop(_OVERFITTED), plan)
    assert found.finding == "overfitting"
    assert found.best_at == min(range(60), key=lambda i: _OVERFITTED[i]) + 1
    assert found.sentence.startswith("60 of 200 planned epochs ran; the best `val_loss` is")
    assert "while `train loss` fell from" in found.sentence
    assert found.sentence.endswith("overfitting, stopping was right and the best weights were put back")


def test_weights_that_were_not_put_back_are_mentioned() -> None:
    found = _curves(*_series("val_loss", _OVERFITTED), _stop(_OVERFITTED, restored=False))
    assert "but the best weights were not put back" in found.sentence


def test_a_curve_that_still_falls_was_stopped_too_soon() -> None:
    assert _curves(*_series("val_loss", [math.exp(-i / 30) for i in range(60)])).finding == "still improving"


def test_a_curve_within_its_noise_levelled_off() -> None:
    noise = random.Random(0)
    values = [0.3 + math.exp(-i / 4) + noise.gauss(0, 0.01) for i in range(60)]
    assert _curves(*_series("val_loss", values)).finding == "levelled off"


def test_a_score_gets_better_upwards() -> None:
    values = [1 - math.exp(-i / 30) for i in range(60)]
    found = _curves(*_series("val_acc", values))
    assert (found.finding, found.best_at) == ("still improving", 60.0)


def test_nan_is_no_stop() -> None:
    assert _curves(*_series("val_loss", [1.0, 0.9, 0.8, 0.7, math.nan])).finding == "diverged"


def test_without_validation_nothing_is_judged() -> None:
    found = _curves(*_series("train loss", [1.0, 0.9, 0.8, 0.7]))
    assert found.finding == "unknown"
    assert "torchmedic.log" in found.sentence


def test_a_loss_that_the_script_logs_is_not_drawn_twice() -> None:
    found = _curves(*_series("val_loss", [1.0, 0.9]), *_series("validation loss", [1.0, 0.9], "phase"))
    assert [c.name for c in found.losses] == ["val_loss"]


def _run_folder(folder: Path, observations: Sequence[Observation]) -> Path:
    create(folder / RUN_FILE, RunInfo(argv=("train.py",)))
    append(folder / RUN_FILE, observations)
    return folder


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_picture_is_drawn(tmp_path: Path, ending: str, magic: bytes) -> None:
    run = _run_folder(tmp_path / "run", [*_series("val_$loss$", _OVERFITTED), *_series("val_acc", [0.1] * 60)])
    out = tmp_path / "new" / f"curves.{ending}"
    result = CliRunner().invoke(main, ["curves", str(run), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert out.read_bytes().startswith(magic)
    assert "overfitting" in result.output


def _a_chinese_font(path: Path, text: str) -> None:
    """A font that has these characters, each as an empty box."""
    glyphs = {character: f"uni{ord(character):04X}" for character in sorted(set(text))}
    made = FontBuilder(1000, isTTF=True)
    names = [".notdef", *glyphs.values()]
    made.setupGlyphOrder(names)
    made.setupCharacterMap({ord(character): name for character, name in glyphs.items()})
    made.setupGlyf({name: TTGlyphPen(None).glyph() for name in names})
    made.setupHorizontalMetrics(dict.fromkeys(names, (1000, 0)))
    made.setupHorizontalHeader(ascent=800, descent=-200)
    made.setupNameTable({"familyName": "Made Up SC", "styleName": "Regular"})
    made.setupOS2()
    made.setupPost()
    made.save(path)


def _drawn_in_chinese(folder: Path) -> tuple[Result, str]:
    run = _run_folder(folder / "run", [*_series("val_loss", _OVERFITTED), *_series("val_acc", [0.1] * 60)])
    out = folder / "curves.svg"
    result = CliRunner().invoke(main, ["curves", "--lang", "zh", str(run), "--out", str(out)])
    choose("en")
    assert result.exit_code == 0, result.output
    return result, out.read_text()


def test_the_picture_speaks_the_language_that_its_fonts_can_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fontManager, "ttflist", [f for f in fontManager.ttflist if not drawing._has_chinese(f.fname)])
    drawing._chinese_font.cache_clear()
    (tmp_path / "without").mkdir()
    result, picture = _drawn_in_chinese(tmp_path / "without")
    assert result.stderr.count("\n") == 1
    assert "没有找到中文字体" in result.stderr
    assert "<!-- best: " in picture
    _a_chinese_font(tmp_path / "made-up.ttf", "损失得分最佳在步已运行后未" + result.stdout)
    fontManager.addfont(tmp_path / "made-up.ttf")
    drawing._chinese_font.cache_clear()
    (tmp_path / "with").mkdir()
    result, picture = _drawn_in_chinese(tmp_path / "with")
    drawing._chinese_font.cache_clear()
    assert result.stderr == ""
    for words in ("损失", "得分", "最佳：", "过拟合"):
        assert re.search(f"<!-- [^>]*{words}", picture), words


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--out", "x.gif"], ".png, .svg or .pdf"), ([], "no loss and no score in this run")],
)
def test_bad_input_is_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    run = _run_folder(tmp_path / "run", [])
    result = CliRunner().invoke(main, ["curves", str(run), *arguments])
    assert result.exit_code == 2
    assert said in result.output
    assert len(result.output.splitlines()) == 1
