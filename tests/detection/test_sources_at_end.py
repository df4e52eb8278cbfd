"""The source of a script can still be read when the script is over."""

from __future__ import annotations

import pytest

from tests.catalogue import FIXTURES
from tests.running import run_watched_afresh


@pytest.mark.parametrize(
    ("fixture", "code"), [("method_not_called/bad_2.py", "WIR064"), ("rows_rewritten_by_reading/bad.py", "DAT062")]
)
def test_a_script_started_as_a_program_is_read_after_its_end(fixture: str, code: str) -> None:
    watched = run_watched_afresh(FIXTURES / fixture)
    assert [d.code for d in watched.verdict.diagnoses] == [code]
