"""The live page in a real Chromium, while a real training runs and while the server goes away and comes back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import PATIENCE, a_browser, opened
from tests.live.serving import serving
from tests.report.runs import a_healthy_run, a_hostile_run, a_run_file, a_sick_run

# Goes on until a file appears, then sickens: the test decides when, not the clock.
TRAINING = """
import pathlib, time
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.rand(16, 4)
while True:
    out = model(x)
    if pathlib.Path("sicken").exists():
        out = torch.log(out * 0)
    loss = out.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.02)
"""
STEPS = "parseInt(document.getElementById('steps').textContent)"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with a_browser() as found:
        yield found


def test_the_page_follows_a_training_to_its_verdict(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING)
    command = [sys.executable, "-m", "torchmedic", "run", "train.py"]
    with serving(tmp_path) as served, opened(browser, served.url, width=360) as seen:
        training = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        try:
            page = seen.page
            seen.wait_until(f"{STEPS} > 5", 2 * PATIENCE)
            first = page.evaluate(STEPS)
            seen.wait_until(f"{STEPS} > {first + 10}")
            page.locator("#chart-loss .js-line").first.wait_for(state="attached")
            assert page.locator("#state").inner_text() == "running"
            (tmp_path / "sicken").touch()
            page.locator("#verdict .headline").first.wait_for()
            assert "NUM002" in page.locator("#verdict .headline").inner_text()
            seen.wait_until("document.getElementById('state').textContent === 'stopped by torchmedic'")
            page.locator("#language").press("Enter")
            assert page.evaluate("document.documentElement.lang") == "zh"
            assert "NUM002" in page.locator("#verdict .headline").inner_text()
            assert page.locator("#runs-title").inner_text() == "运行"
            assert page.locator("#chart-loss h3").inner_text() == "每一步的损失"
            assert "train.py:13" in page.locator("#verdict .path").first.inner_text()
            page.reload()
            page.locator("#verdict .headline").first.wait_for()
            assert page.evaluate("document.documentElement.lang") == "zh", "the choice lasts"
            assert page.locator("#runs-title").inner_text() == "运行"
            page.locator("#language").press("Enter")
            page.reload()
            page.locator("#verdict .headline").first.wait_for()
            assert page.locator("#runs-title").inner_text() == "Runs"
            assert seen.complaints == []
            assert not [url for url in seen.outside if not url.startswith(served.url)]
            assert not seen.is_too_wide
        finally:
            training.kill()
            training.communicate()


def test_the_page_finds_a_restarted_server_again(browser: Browser, tmp_path: Path) -> None:
    run = tmp_path / ".torchmedic" / "1-run"
    run.mkdir(parents=True)
    a_run_file(run, points=[("loss", step, 1.0 / step) for step in range(1, 20)])
    corrupt = tmp_path / ".torchmedic" / "0-corrupt"
    corrupt.mkdir()
    (corrupt / "rank0.db").write_bytes(b"no database")
    with serving(tmp_path) as first, opened(browser, first.url) as seen:
        seen.wait_until(f"{STEPS} === 19")
        seen.page.locator('#runs a[data-id="0-corrupt"]').click()
        seen.page.locator("#trouble:not([hidden])").wait_for()
        assert seen.page.locator("#script").inner_text() == "0-corrupt"
        assert seen.page.locator("figure").count() == 0, "nothing of the run that was shown before"
        seen.page.locator('#runs a[data-id="1-run"]').click()
        seen.wait_until(f"{STEPS} === 19")
        first.process.terminate()
        seen.page.locator("#link:not(.open)").wait_for()
        with serving(tmp_path) as second:
            assert second.url == first.url
            seen.page.locator("#link.open").wait_for()


def test_lines_have_names_steps_are_those_made_and_the_list_comes_first(browser: Browser, tmp_path: Path) -> None:
    for name, make in (("1-healthy", a_healthy_run), ("2-sick", a_sick_run)):
        (tmp_path / ".torchmedic" / name).mkdir(parents=True)
        make(tmp_path / ".torchmedic" / name)
    with serving(tmp_path) as served, opened(browser, served.url, width=360) as seen:
        seen.wait_until(f"{STEPS} === 59")
        assert "norm, from" in seen.page.locator("#heat-gradient figcaption").inner_text()
        runs, verdict = seen.page.locator(".runs").bounding_box(), seen.page.locator("#verdict").bounding_box()
        assert runs is not None
        assert verdict is not None
        assert runs["y"] < verdict["y"]
        seen.page.locator('#runs a[data-id="1-healthy"]').click()
        seen.wait_until(f"{STEPS} === 200")
        assert seen.page.locator("#chart-metric-0 .legend li").all_inner_texts() == ["train_loss", "val_loss"]
        assert seen.page.locator("#chart-loss .legend li").count() == 0


def test_names_chosen_by_an_attacker_run_nothing(browser: Browser, tmp_path: Path) -> None:
    run = tmp_path / ".torchmedic" / "1-run"
    run.mkdir(parents=True)
    a_hostile_run(run)
    with serving(tmp_path) as served, opened(browser, served.url, scheme="dark", width=1600) as seen:
        seen.page.locator("#heat-gradient .heatmaplayer image").first.wait_for(state="attached")
        assert "window.hurt" in seen.page.locator("#script").inner_text()
        assert seen.page.evaluate("typeof window.hurt") == "undefined"
        assert not seen.is_too_wide
        assert seen.complaints == []
