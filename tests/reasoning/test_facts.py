"""Facts: filled by keywords, compared by value, never changed."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from torchmedic.facts import Location, ModuleFact, to_plain

HERE = Location(file="a.py", line=3)


def test_a_fact_has_its_defaults_and_is_equal_by_value() -> None:
    assert Location(file="a.py", line=3, function="", source="") == HERE
    assert Location(file="a.py", line=4) != HERE
    assert HERE != "a.py:3"
    assert len({HERE, Location(file="a.py", line=3)}) == 1
    assert repr(HERE) == "Location(file='a.py', line=3, function='', source='')"


@pytest.mark.parametrize("values", [{"file": "a.py"}, {"file": "a.py", "line": 1, "colour": "red"}])
def test_a_fact_wants_all_its_values_and_no_others(values: dict[str, object]) -> None:
    with pytest.raises(TypeError, match=r"Location: missing or unknown: (line|colour)"):
        Location(**values)  # type: ignore[arg-type]


def test_a_fact_does_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        HERE.line = 4  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del HERE.line


def test_a_fact_is_a_dataclass_to_all_who_ask() -> None:
    assert dataclasses.replace(HERE, line=9) == Location(file="a.py", line=9)
    assert to_plain(HERE) == {"file": "a.py", "line": 3}
    assert pickle.loads(pickle.dumps(HERE)) == HERE == copy.deepcopy(HERE)


def test_facts_share_no_container() -> None:
    first, second = ModuleFact(type="Linear"), ModuleFact(type="Linear")
    first.settings["bias"] = "True"
    assert second.settings == {}
