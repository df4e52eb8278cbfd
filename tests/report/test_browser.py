"""The report as a reader sees it, in a real Chromium."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FloatRect, Locator

from tests.browser import a_browser, opened
from tests.cli.typed import typed
from tests.report.runs import (
    HOSTILE,
    a_check_up,
    a_healthy_run,
    a_hostile_run,
    a_run_with_long_names,
    a_sick_run,
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with a_browser() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of a sick, a healthy, a hostile and a light page, and of that of a check-up of data and memory."""
    makers = {
        "sick": a_sick_run,
        "healthy": a_healthy_run,
        "hostile": a_hostile_run,
        "light": a_sick_run,
        "long": a_run_with_long_names,
        "long light": a_run_with_long_names,
        "checked": lambda folder: a_check_up(folder, HOSTILE),
    }
    found = {}
    for name, make in makers.items():
        run = make(tmp_path_factory.mktemp(name))
        options = ("--light",) if name in ("light", "long light", "checked") else ()
        assert typed("report", str(run), "--html", str(run / "report.html"), *options).status == 0
        found[name] = (run / "report.html").as_uri()
    return found


def background(of: str = "body") -> str:
    return f"getComputedStyle(document.querySelector('{of}')).backgroundColor"


@pytest.mark.parametrize("name", ["sick", "healthy"])
def test_every_chart_is_drawn_without_a_complaint_or_a_request(
    browser: Browser, pages: dict[str, str], name: str
) -> None:
    with opened(browser, pages[name]) as seen:
        figures = seen.page.locator("figure.chart")
        assert figures.count() >= 4
        for number in range(figures.count()):
            drawn = figures.nth(number).locator(".scatterlayer path.js-line, .heatmaplayer image")
            drawn.first.wait_for(state="attached")
        assert seen.complaints == []
        assert seen.outside == []


def test_the_sick_step_and_the_layer_where_it_began_are_marked(browser: Browser, pages: dict[str, str]) -> None:
    with opened(browser, pages["sick"]) as seen:
        seen.page.locator("#chart-loss .annotation-text").first.wait_for(state="attached")
        assert seen.page.locator("#chart-loss .annotation-text").all_text_contents() == ["sick step 60"]
        assert "block.2.weight" in seen.page.locator("#heat-gradient .began").inner_text()
        assert seen.page.locator("svg.chain .origin").count() == 1


def test_epochs_and_evaluations_are_marked(browser: Browser, pages: dict[str, str]) -> None:
    with opened(browser, pages["healthy"], width=360) as seen:
        seen.page.locator("#chart-loss .annotation-text").first.wait_for(state="attached")
        places = [_box(name) for name in seen.page.locator("#chart-loss .annotation-text").all()]
        assert len(places) > 1
        assert all(one["x"] + one["width"] < next_one["x"] for one, next_one in itertools.pairwise(places))
    with opened(browser, pages["healthy"]) as seen:
        seen.page.locator("#chart-loss .annotation-text").first.wait_for(state="attached")
        told = seen.page.locator("#chart-loss .annotation-text").all_text_contents()
        # Ten names would run into each other: every second epoch is named.
        assert told == [f"epoch {number}" for number in range(1, 11, 2)]
        assert seen.page.locator("#chart-loss .shapelayer path").count() == 15, "five shaded epochs, ten evaluations"


def test_names_chosen_by_an_attacker_run_nothing(browser: Browser, pages: dict[str, str]) -> None:
    with opened(browser, pages["hostile"]) as seen:
        seen.page.locator(".js-plotly-plot .main-svg").first.wait_for(state="attached")
        assert seen.page.evaluate("typeof window.hurt") == "undefined"
        assert seen.outside == []


def test_dark_and_light_follow_the_system_and_the_reader(browser: Browser, pages: dict[str, str]) -> None:
    with opened(browser, pages["sick"]) as light, opened(browser, pages["sick"], scheme="dark") as dark:
        by_day, by_night = light.page.evaluate(background()), dark.page.evaluate(background())
        assert by_day != by_night
        tick = "getComputedStyle(document.querySelector('#chart-loss .xtick text')).fill"
        light.page.locator("#chart-loss .xtick text").first.wait_for(state="attached")
        before = light.page.evaluate(tick)
        light.page.select_option("#theme", "dark")
        assert light.page.evaluate(background()) == by_night
        light.wait_until(f"{tick} !== '{before}'")


def test_data_and_memory_are_drawn_with_a_column_named_by_an_attacker(browser: Browser, pages: dict[str, str]) -> None:
    with opened(browser, pages["checked"], scheme="dark") as seen:
        for chosen in (".spread svg path", "#chart-memory-course .layer", ".tiles li"):
            box = seen.page.locator(chosen).first.bounding_box()
            assert box is not None
            assert box["width"] > 100
        assert "window.hurt" in seen.page.locator(".columns-table").inner_text()
        assert seen.page.evaluate("typeof window.hurt") == "undefined"
        assert seen.complaints == []
        assert seen.outside == []


@pytest.mark.parametrize("name", ["sick", "light", "checked"])
def test_no_page_is_wider_than_the_window(browser: Browser, pages: dict[str, str], name: str) -> None:
    for width in (360, 1600):
        with opened(browser, pages[name], width=width) as seen:
            seen.page.locator("footer").wait_for()
            assert not seen.is_too_wide


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_long_names_of_layers_are_shortened_and_not_cut_off(
    browser: Browser, pages: dict[str, str], width: int
) -> None:
    with opened(browser, pages["long"], width=width) as seen:
        ticks = seen.page.locator("#heat-gradient .ytick text")
        ticks.first.wait_for(state="attached")
        assert len(set(ticks.all_text_contents())) == 24, "each layer has a name of its own"
        left = seen.page.locator("#heat-gradient").bounding_box()
        assert left is not None
        assert min(box["x"] for box in map(_box, ticks.all())) >= left["x"]
        seen.page.locator("#heat-gradient .nsewdrag").hover()
        told = seen.page.locator("#heat-gradient .hovertext").text_content() or ""
        assert "_projection_linear.weight" in told, "the whole name is told where the mouse is"
    with opened(browser, pages["long light"], width=width, scripts=False) as seen:
        names = seen.page.locator("#heat-gradient .names > span")
        assert len({name.inner_text() for name in names.all()}) == 24
        cut = "[...document.querySelectorAll('.names > span')].filter(e => e.scrollWidth > e.clientWidth).length"
        assert seen.page.evaluate(cut) == 0


def _box(place: Locator) -> FloatRect:
    found = place.bounding_box()
    assert found is not None
    return found


def test_words_beside_facts_and_bars_are_whole_on_a_narrow_page(browser: Browser, pages: dict[str, str]) -> None:
    with opened(browser, pages["sick"], width=360) as seen:
        heights = {
            _box(head)["height"] for head in seen.page.locator(".facts th:text-matches('^(Python|torch)$')").all()
        }
        line = seen.page.evaluate("parseFloat(getComputedStyle(document.body).lineHeight)")
        assert heights
        assert max(heights) < 2 * line
    with opened(browser, pages["checked"], width=360) as seen:
        bars = [_box(bar)["width"] for bar in seen.page.locator(".bars .bar-cell span").all()]
        assert max(bars) > 70
        for tile in seen.page.locator(".tiles li").all():
            outer, whole = _box(tile), _box(seen.page.locator(".tiles"))
            assert outer["x"] + outer["width"] <= whole["x"] + whole["width"] + 1


def test_the_light_page_shows_its_pictures_without_any_script(browser: Browser, pages: dict[str, str]) -> None:
    with opened(browser, pages["light"], scripts=False) as seen:
        for chosen in ("#chart-loss .plot svg", "#heat-gradient img", "svg.chain"):
            box = seen.page.locator(chosen).bounding_box()
            assert box is not None
            assert box["width"] > 200
            assert box["height"] > 60


def test_the_page_can_be_used_without_a_mouse_and_without_eyes(browser: Browser, pages: dict[str, str]) -> None:
    with opened(browser, pages["sick"]) as seen:
        seen.page.keyboard.press("Tab")
        assert seen.page.evaluate("document.activeElement.className") == "skip"
        seen.page.keyboard.press("Enter")
        assert seen.page.evaluate("document.activeElement.id") == "verdict"
        assert seen.page.locator("h1").count() == 1
        nameless = "[...document.querySelectorAll('[role=img]')].filter(e => !e.getAttribute('aria-label')).length"
        assert seen.page.evaluate(nameless) == 0
        assert seen.page.locator("section:not([aria-labelledby])").count() == 0


def test_the_language_is_changed_from_the_keyboard_and_back(browser: Browser, pages: dict[str, str]) -> None:
    with opened(browser, pages["sick"]) as seen:
        page = seen.page
        page.locator("#chart-loss .annotation-text").first.wait_for(state="attached")
        page.locator("details.page").first.locator("summary").click()
        english = page.locator("h1").inner_text()
        page.locator("#language").focus()
        page.keyboard.press("Enter")
        assert page.evaluate("[document.documentElement.lang, document.activeElement.id]") == ["zh", "language"]
        assert "对 0 取" in page.locator("h1").inner_text()
        assert page.locator("#verdict .path").first.inner_text() == "train.py:3"
        assert "发生了什么" in page.locator("details.page").first.inner_text(), "what was open stays open"
        seen.wait_until("document.querySelector('#chart-loss .annotation-text').textContent.includes('第 60 步')")
        figures = page.locator("figure.chart")
        drawn = page.locator("figure.chart .scatterlayer path.js-line, figure.chart .heatmaplayer image")
        assert drawn.count() >= figures.count() >= 4
        page.keyboard.press("Space")
        assert page.evaluate("document.documentElement.lang") == "en"
        assert page.locator("h1").inner_text() == english
        assert page.evaluate("localStorage.length + document.cookie.length") == 0
        assert seen.complaints == []
        assert seen.outside == []


def test_the_pictures_of_a_light_page_are_there_in_both_languages(browser: Browser, pages: dict[str, str]) -> None:
    with opened(browser, pages["light"], width=360) as seen:
        for language in ("zh", "en"):
            seen.page.locator("#language").click()
            seen.wait_until(f"document.documentElement.lang === '{language}'")
            for chosen in ("#chart-loss .plot svg path.line", "#heat-gradient img[src]", "svg.chain"):
                assert seen.page.locator(chosen).first.is_visible()
            assert not seen.is_too_wide


def test_it_prints(browser: Browser, pages: dict[str, str]) -> None:
    with opened(browser, pages["sick"], scheme="dark") as seen:
        seen.page.emulate_media(media="print")
        assert not seen.page.locator("nav").is_visible()
        assert seen.page.evaluate(background()) == "rgb(255, 255, 255)"
        assert len(seen.page.pdf()) > 10_000
