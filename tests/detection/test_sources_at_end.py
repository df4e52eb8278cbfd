"""The source of a script can still be read when the script is over."""

from __future__ import annotations

from tests.catalogue import FIXTURES
from tests.running import run_watched_afresh


def test_a_script_started_as_a_program_is_read_after_its_end() -> None:
    watched = run_watched_afresh(FIXTURES / "method_not_called" / "bad_2.py")
    assert [d.code for d in watched.verdict.diagnoses] == ["WIR064"]
