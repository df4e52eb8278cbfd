"""Text files as people have them: other encodings, decimal commas, blanks between columns, mixed JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from torchmedic.checkups.data.check import Checkup, check_paths
from torchmedic.checkups.data.forms import encoding_of
from torchmedic.checkups.data.options import Options
from torchmedic.facts import DataSource, FileTrouble, Run, TableColumn
from torchmedic.triage import examine


def _checked(path: Path) -> Checkup:
    return check_paths((str(path),), Options())


def _column(checkup: Checkup, name: str) -> TableColumn:
    return next(fact for fact in checkup.seen if isinstance(fact, TableColumn) and fact.column == name)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("name,x\n" + "Müller,1\nGarçon,2\nplain,3\n" * 20, "cp1252"),
        ("科室,血糖\n" + "心内科,5.5\nICU,6.1\n" * 20, "gb18030"),
        ("Maß;Größe\n" + "4;5\n" * 20, "cp1252"),
        ("commune;année\n" + "Évry;créée\n" * 20, "cp1252"),
        ("科室,血糖\n" + "心内科,5.5\n" * 20, "utf-8"),
        ("a,b\n" + "1,2\n" * 20, "utf-16"),
    ],
)
def test_the_encoding_is_guessed_from_the_bytes(text: str, encoding: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    assert encoding_of(tmp_path / "t.csv") == encoding


def test_a_file_in_gbk_is_read_with_its_own_lines_and_nothing_is_left_behind(tmp_path: Path) -> None:
    rows = [f"心内科,{i / 10}" for i in range(200)]
    rows[30] = "呼吸科,缺失"
    (tmp_path / "病历.csv").write_bytes(("科室,血糖\n" + "\n".join(rows) + "\n").encode("gbk"))
    checkup = _checked(tmp_path / "病历.csv")
    texts = _column(checkup, "血糖").texts
    assert texts is not None
    assert (texts.tokens, texts.cells[0].line, Path(texts.cells[0].file).name) == ((("缺失", 1),), 32, "病历.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["病历.csv"]


def test_decimal_commas_are_numbers(tmp_path: Path) -> None:
    rows = [f"{i % 28 + 1:02d}.01.2024;{20 + i % 7},5;1.0{i % 90 + 10},25" for i in range(300)]
    rows[41] = "03.01.2024;k.A.;1.013,25"
    (tmp_path / "t.csv").write_text("Tag;Temperatur;Druck\n" + "\n".join(rows) + "\n")
    checkup = _checked(tmp_path / "t.csv")
    warm, pressed = _column(checkup, "Temperatur"), _column(checkup, "Druck")
    assert (warm.finite, warm.minimum, warm.maximum) == (299, 20.5, 26.5)
    assert warm.texts is not None
    assert (warm.texts.tokens, warm.texts.cells[0].line) == ((("k.A.", 1),), 43)
    assert (pressed.minimum, pressed.maximum) == (1010.25, 1099.25)
    assert _column(checkup, "Tag").family == "text"


def test_a_file_that_is_no_text_is_not_read_as_one(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(1, 256, 3000).astype(np.uint8).tobytes()
    (tmp_path / "noise.csv").write_bytes(noise)
    troubles = [(seen.trouble) for seen in _checked(tmp_path / "noise.csv").seen if isinstance(seen, FileTrouble)]
    assert troubles == ["unreadable"]


def test_what_stands_between_the_cells_is_told_with_the_encoding(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(("ort;zahl\n" + "Köln;4\nUlm;5\n" * 20).encode("cp1252"))
    found = examine(Run(observations=tuple(_checked(tmp_path / "t.csv").seen)))
    told = next(one for one in found.diagnoses if one.code == "DAT140").remedies[0].title
    assert "encoding='cp1252', sep=';')" in told


def test_blanks_between_columns_are_no_matter(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = [
        f"  {x:8.2f}   {k}    {y:.1f}" for x, k, y in zip(rng.normal(9, 2, 99), range(99), rng.random(99), strict=True)
    ]
    lines[50] = "  7.5   50    ?"
    (tmp_path / "auto.data").write_text("\n".join(lines) + "\n")
    checkup = check_paths((str(tmp_path),), Options())
    assert [(fact.rows, fact.columns) for fact in checkup.seen if isinstance(fact, DataSource)] == [(99, 3)]
    assert not any(isinstance(fact, FileTrouble) for fact in checkup.seen)
    texts = next(fact.texts for fact in checkup.seen if isinstance(fact, TableColumn) and fact.texts is not None)
    assert (texts.tokens, texts.cells[0].line) == ((("?", 1),), 51)


def test_a_line_of_units_does_not_hide_the_header(tmp_path: Path) -> None:
    rows = "".join(f"{i},{20 + i % 7}.5,{40 + i % 5}\n" for i in range(300))
    (tmp_path / "logger.csv").write_text("# Logger 3000\n# Serial: 42\ntime,temp,hum\ns,degC,%\n" + rows)
    column = _column(_checked(tmp_path / "logger.csv"), "temp")
    assert column.texts is not None
    assert (column.finite, column.texts.tokens, column.texts.cells[0].line) == (300, (("degC", 1),), 4)


def test_json_of_mixed_types_and_nan_is_read(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"stars": i % 5 + 1, "score": i / 7} for i in range(60)]
    rows[20], rows[30] = {"stars": "five", "score": 0.5}, {"stars": 3, "score": float("nan")}
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    checkup = _checked(tmp_path / "t.jsonl")
    stars = _column(checkup, "stars")
    assert stars.texts is not None
    assert (stars.texts.tokens, stars.texts.cells[0].line) == ((("five", 1),), 21)
    assert _column(checkup, "score").nan == 1


def _zeros(rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(900) < 0.2, 0, rng.gamma(2, 75, 900).clip(14, 800).round())


CODES: dict[str, tuple[str, Callable[[np.random.Generator], np.ndarray], tuple[float, ...]]] = {
    "a usual code": ("ozone", lambda rng: np.where(rng.random(900) < 0.05, -999, rng.normal(40, 9, 900)), (-999.0,)),
    "two codes": ("dose", lambda rng: rng.choice([-99, -999, *range(1, 60)], 900), (-999.0, -99.0)),
    "no insulin at all": ("Insulin", _zeros, (0.0,)),
    "zero that may be": ("garage_area", _zeros, ()),
    "a scale with an end": ("depth", lambda rng: rng.normal(-900, 60, 900).clip(-999, 0).round(), ()),
    "a rare far value": ("ozone", lambda rng: np.where(np.arange(900) < 2, -999, rng.normal(40, 9, 900)), ()),
    "a code far from large values": (
        "income",
        lambda rng: np.where(rng.random(900) < 0.04, -999, rng.lognormal(10, 0.5, 900).round()),
        (-999.0,),
    ),
    "minus one where none is near": ("age", lambda rng: rng.choice([-1, *range(18, 90)], 900), (-1.0,)),
    "ninety-nine beside a few": ("kids", lambda rng: rng.choice([0, 1, 1, 2, 2, 3, 4, 99], 900), (99.0,)),
    "an age of ninety-nine": ("age", lambda rng: rng.choice([*range(30, 70), 99], 900), ()),
    "hours up to ninety-nine": ("hours", lambda rng: rng.choice([20, 35, 40, 40, 50, 60, 99], 900), ()),
    "losses beside gains": ("net", lambda rng: rng.choice([-999, -400, *range(0, 900, 7)], 900), ()),
    "minus one for none": ("children", lambda rng: rng.integers(-1, 12, 900), ()),
}


@pytest.mark.parametrize("case", CODES)
def test_numbers_that_stand_for_missing(case: str, tmp_path: Path) -> None:
    name, values, codes = CODES[case]
    rng = np.random.default_rng(0)
    column = values(rng)
    np.savetxt(tmp_path / "t.csv", np.c_[column, rng.random(900)], delimiter=",", header=f"{name},other", comments="")
    found = _column(_checked(tmp_path / "t.csv"), name).stand_ins
    assert {code.value: code.count for code in found} == {code: int((column == code).sum()) for code in codes}
