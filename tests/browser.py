"""A real Chromium for the pages: the system's, driven by playwright. Where there is none, tests fail."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")
# A container has no user namespaces and little shared memory; both matter only for pages of strangers.
_ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
PATIENCE = 60_000  # milliseconds


@dataclass
class Seen:
    """A page with everything it complained of and every address it asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def outside(self) -> list[str]:
        return [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]

    def wait_until(self, condition: str, patience: int = PATIENCE) -> None:
        """Wait for a JavaScript expression to hold; by asking, as the pages allow no other way to evaluate a text."""
        end = time.monotonic() + patience / 1000
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, f"never: {condition}"
            self.page.wait_for_timeout(100)

    @property
    def is_too_wide(self) -> bool:
        return bool(self.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


def chromium() -> str:
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    assert found, "no Chromium on this machine: apt-get install chromium (`.ci/run` does)"
    return found


@contextmanager
def a_browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=_ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Browser, url: str, *, width: int = 1280, scheme: Literal["light", "dark"] = "light", scripts: bool = True
) -> Iterator[Seen]:
    """A page at an address, in a fresh profile."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    seen = Seen(page)
    page.on("console", lambda said: seen.complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("request", lambda request: seen.requests.append(request.url))
    try:
        page.goto(url)
        yield seen
    finally:
        context.close()
