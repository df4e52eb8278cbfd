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
_OPTIONS = ("fail_on", "allow", "on_sick")
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

    wrong = _wrong_with(node)
    if wrong:
        pytest.fail(wrong, pytrace=False)
    return watch(quiet=True, on_sick=_option(node, "on_sick", "stop"), name=node.name)


def _wrong_with(node: Any) -> str:
    """What the mark asks for that does not exist: a wish that is not understood must not pass as granted."""
    from torchmedic.settings import ON_SICK

    marker = node.get_closest_marker("medic")
    if marker is None:
        return ""
    if marker.args:
        return f"the mark `medic` takes keywords only, not {marker.args[0]!r}"
    unknown = [name for name in marker.kwargs if name not in _OPTIONS]
    if unknown:
        return f"the mark `medic` knows {', '.join(_OPTIONS)}, not {unknown[0]!r}"
    for name, choices in (("fail_on", tuple(_LEVELS)), ("on_sick", ON_SICK)):
        asked = marker.kwargs.get(name, choices[0])
        if asked not in choices:
            return f"`{name}` of the mark `medic` is one of {', '.join(choices)}, not {asked!r}"
    return _wrong_in_allow(marker.kwargs.get("allow", ()))


def _wrong_in_allow(allowed: Any) -> str:
    from torchmedic.triage import names_of_rules

    if not allowed:
        return ""
    if isinstance(allowed, str):
        return f"`allow` of the mark `medic` is a list of codes and names, not {allowed!r}"
    known = names_of_rules()
    return next((f"`allow` of the mark `medic` names no rule: {word!r}" for word in allowed if word not in known), "")


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
