"""A pytest plugin: a test that asks for `medic`, or is marked with it, fails when the training in it is sick."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

# torch is imported when a test asks for a watch: pytest runs without torch must not wait for it.
if TYPE_CHECKING:
    from torchmedic.findings import Diagnosis
    from torchmedic.in_process import Watch

_LEVELS = {"error": ("error",), "warning": ("error", "warning")}
_WATCH: pytest.StashKey[Any] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "medic(fail_on='error', allow=(), on_sick='stop'): watch the training in this test, and fail it when it is "
        "sick; `fail_on='warning'` is stricter, codes and names in `allow` are let pass.",
    )


@pytest.fixture
def medic(request: pytest.FixtureRequest) -> Iterator[Watch]:
    """Watches the test, and fails it when its training is sick. A test that calls `medic.stop()` judges by itself."""
    watch = _start(request.node)
    request.node.stash[_WATCH] = watch
    yield watch
    watch.stop()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    watch = pyfuncitem.stash.get(_WATCH, None)
    if watch is None and pyfuncitem.get_closest_marker("medic") is None:
        return (yield)
    watch = watch or _start(pyfuncitem)
    result, is_ours_to_judge = None, True
    try:
        with watch:
            result = yield
            is_ours_to_judge = watch.is_on
    except Exception:
        if watch.verdict is not None and watch.verdict.diagnoses:
            pyfuncitem.add_report_section("call", "torchmedic", str(watch))
        raise
    bad = _not_allowed(pyfuncitem, watch)
    if bad and is_ours_to_judge:
        pytest.fail(f"{_summary(bad)}\n\n{watch}", pytrace=False)
    return result


def _start(node: Any) -> Watch:
    from torchmedic.in_process import watch

    asked = _option(node, "fail_on", "error")
    if asked not in _LEVELS:
        pytest.fail(f"`fail_on` of the mark `medic` is one of {', '.join(_LEVELS)}, not {asked!r}", pytrace=False)
    return watch(quiet=True, on_sick=_option(node, "on_sick", "stop"), name=node.name)


def _not_allowed(node: Any, watch: Watch) -> list[Diagnosis]:
    """The diagnoses that fail this test."""
    levels = _LEVELS[_option(node, "fail_on", "error")]
    allowed = set(_option(node, "allow", ()))
    found = watch.verdict.diagnoses if watch.verdict is not None else ()
    return [d for d in found if d.severity in levels and not allowed & {d.code, d.name}]


def _option(node: Any, name: str, default: Any) -> Any:
    marker = node.get_closest_marker("medic")
    return marker.kwargs.get(name, default) if marker is not None else default


def _summary(bad: list[Diagnosis]) -> str:
    first = bad[0]
    return f"the training in this test is sick: {first.code} {first.headline}"
