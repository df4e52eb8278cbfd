"""The page of a run: what it holds, what it leaves out, how large it is, and that names in it do no harm."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tests.cli.typed import typed
from tests.report.runs import HOSTILE, a_check_up, a_healthy_run, a_hostile_run, a_run_file, a_sick_run, training
from torchmedic import reporting
from torchmedic.facts import Crash, Frame, Location, MetricPoint
from torchmedic.render.html.phases import phases
from torchmedic.render.html.shares import tiles
from torchmedic.render.html.text import TEXT
from torchmedic.store import load
from torchmedic.translation import choose


def page_of(run: Path, *options: str) -> str:
    out = run / "page.html"
    answer = typed("report", str(run), "--html", str(out), *options)
    assert answer.status == 0, answer.err
    return out.read_text(encoding="utf-8")


def shown(page: str) -> str:
    """What is shown at first: without the text in the other language."""
    return re.sub(r"<template.*?</template>", "", page, flags=re.DOTALL)


def sections(page: str) -> list[str]:
    return re.findall(r'<section id="(\w+)"', shown(page))


def test_a_sick_run_has_verdict_way_cure_curves_and_layers(tmp_path: Path) -> None:
    page = page_of(a_sick_run(tmp_path))
    assert sections(page) == ["verdict", "curves", "layers", "environment"]
    assert "NUM002" in page
    assert 'class="chain"' in page
    assert "<mark>torch.log(probs)</mark>" in page
    assert "return loss" in page, "the lines around the guilty one"
    assert "all gradients finite" in page
    assert '<span class="added">+ loss = -torch.log(probs.clamp_min(1e-8)).mean()</span>' in page
    assert "Ruled out" in page
    assert "it began at block.2.weight, step 60" in page


def test_what_has_nothing_to_show_does_not_appear(tmp_path: Path) -> None:
    line = Location(file="train.py", line=3, function="<module>", source="import cv2")
    crash = Crash(
        exception="ModuleNotFoundError", message="No module named 'cv2'", frames=(Frame(location=line, is_user=True),)
    )
    page = page_of(a_run_file(tmp_path, [crash], exit_code=1))
    assert sections(page) == ["verdict", "environment"]
    assert 'class="chain"' not in page
    assert "<h3>Ruled out" not in page
    assert len(page.encode()) < 200_000, "where nothing is drawn, the script that draws is left out"


def test_a_healthy_run_says_so_and_shows_its_best_epoch(tmp_path: Path) -> None:
    page = page_of(a_healthy_run(tmp_path), "--light")
    assert '<h1 id="verdict-title">healthy, 200 optimizer steps watched</h1>' in page
    assert "best epoch 6" in page


def test_epochs_and_evaluations_are_marked_on_the_curve_of_steps(tmp_path: Path) -> None:
    page = page_of(a_healthy_run(tmp_path), "--light")
    assert "shaded: every second of 10 epochs; marks at the bottom: 10 evaluations" in page
    assert shown(page).count('class="epoch-label') == 5, "ten would overlap"
    assert shown(page).count('class="epoch"') == 1
    evaluations = re.findall(r'class="evaluation" d="([^"]+)"', page)
    assert [mark.count("M") for mark in evaluations] == [10]


def test_an_epoch_is_shaded_from_its_first_step_to_its_last(tmp_path: Path) -> None:
    seen = phases(load(a_healthy_run(tmp_path)))
    assert [(epoch.start, epoch.end) for epoch in seen.epochs[:2]] == [(0.5, 20.5), (20.5, 40.5)]
    assert seen.evaluations[:2] == (20.5, 40.5), "after the last step of an epoch, before the first of the next"


def test_a_training_without_epochs_has_none_on_its_curve(tmp_path: Path) -> None:
    page = page_of(a_sick_run(tmp_path), "--light")
    assert 'epoch-label"' not in page


def test_check_ups_of_data_and_memory_are_shown(tmp_path: Path) -> None:
    page = page_of(a_check_up(tmp_path), "--light")
    assert sections(page) == ["verdict", "more", "data", "memory", "environment"]
    assert page.index(">troponin<") < page.index(">age<"), "columns with trouble come first"
    for words in ("always 3.0", "3 NaN", "2.5 %", "labs.csv:17", "peak 3.0 GiB allocated", "activations"):
        assert words in page
    assert shown(page).count('class="spread"') == 1
    assert "spread of the values from 1 to 99" in page
    assert "2 farther below, 0 farther above" in page
    assert shown(page).count('class="shade') == 9
    assert shown(page).count('class="layer') == 2, "two kinds of memory over the step"
    assert all(f">{phase}</span>" in page for phase in ("forward phase", "backward phase", "optimizer step"))


def test_tiles_cover_the_whole_and_show_each_amount() -> None:
    found = tiles([(f"m{k}", k + 1) for k in range(20)][::-1])
    areas = [tile.width * tile.height for tile in found]
    assert sum(areas) == pytest.approx(100 * 100)
    assert [round(area / sum(areas) * 210) for area in areas] == list(range(20, 0, -1))


def test_names_chosen_by_an_attacker_stay_text(tmp_path: Path) -> None:
    for options in ((), ("--light",)):
        folder = tmp_path / f"run{len(options)}"
        page = page_of(a_hostile_run(folder), *options)
        folder = folder / "data"
        folder.mkdir()
        page += page_of(a_check_up(folder, HOSTILE), *options)
        assert "window.hurt" in page, "the name is shown"
        assert "<script>window.hurt" not in page
        assert "<img src=x" not in page
        assert HOSTILE not in page


def test_a_page_asks_for_nothing_outside_itself(tmp_path: Path) -> None:
    page = page_of(a_sick_run(tmp_path), "--light")
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page) == []
    assert "default-src 'none'" in page


def test_a_light_page_of_a_long_run_is_small(tmp_path: Path) -> None:
    rough = random.Random(0)
    points = [
        (name, step, (value or 0) * rough.lognormvariate(0, 2)) for name, step, value in training(20_000, 200, 50)
    ]
    scores = [
        MetricPoint(step=epoch, epoch=epoch, name=f"{split}_{name}", value=rough.random(), source="log")
        for epoch in range(1, 1000)
        for split in ("train", "val")
        for name in ("loss", "acc", "f1", "auc", "recall", "precision", "iou", "mse")
    ]
    a_run_file(tmp_path, scores, points, steps=20_000)
    assert len(page_of(tmp_path, "--light").encode()) < 400_000
    assert len(page_of(tmp_path).encode()) < 8_000_000


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_page_is_there_in_both_languages(tmp_path: Path, language: str) -> None:
    page = page_of(a_sick_run(tmp_path), "--light", "--lang", language)
    choose("en")
    assert f'<html lang="{language}">' in page
    hidden = page.removeprefix(shown(page)[: page.index("<template")]).split("</template>")[0]
    english, chinese = (shown(page), hidden) if language == "en" else (hidden, shown(page))
    for words in ("Ruled out", "it began at block.2.weight, step 60", "What happened", "sick step 60"):
        assert words in english
    for words in ("已排除", "block.2.weight", "发生了什么", "第 60 步"):
        assert words in chinese
    assert hidden.count("data:image/png") == 0, "pictures are there once"


def test_without_plotly_the_page_is_the_light_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting.importlib.util, "find_spec", lambda name: None)
    page = page_of(a_sick_run(tmp_path))
    assert "Plotly" not in page
    assert TEXT["made_light"] in page


def test_light_alone_is_refused_in_one_line(tmp_path: Path) -> None:
    answer = typed("report", str(a_sick_run(tmp_path)), "--light")
    assert answer.status == 2
    assert answer.err.count("\n") == 1


def test_a_page_on_standard_output(tmp_path: Path) -> None:
    answer = typed("report", str(a_sick_run(tmp_path)), "--html", "-", "--light")
    assert answer.out.startswith("<!doctype html>")
    assert answer.out.rstrip().endswith("</html>")


def test_sentences_have_named_places_only() -> None:
    unnamed = [name for name, text in TEXT.items() if re.search(r"\{\d*\}|%s", text)]
    assert unnamed == []
