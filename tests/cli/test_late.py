"""Dataclasses that are made when they are first used behave as those that are made at once."""

from __future__ import annotations

import dataclasses
import threading

import pytest

from torchmedic.late import late_dataclass


def kinds() -> tuple[type, type]:
    @late_dataclass()
    class Note:
        step: int
        seen: list[int] = dataclasses.field(default_factory=list)

    @late_dataclass()
    class Longer(Note):
        text: str = "x"

    return Note, Longer


def is_made(kind: type) -> bool:
    return isinstance(kind.__dict__["__dataclass_fields__"], dict)


def test_nothing_is_made_before_the_first_instance() -> None:
    note, _longer = kinds()
    assert not is_made(note)
    assert note(1).seen == []
    assert is_made(note)
    assert note(1, [2]) == note(1, [2])
    assert note(1).seen is not note(1).seen
    assert repr(note(1)).endswith("Note(step=1, seen=[])")


def test_a_derived_class_has_the_fields_of_its_base_whichever_is_first() -> None:
    note, longer = kinds()
    assert [field.name for field in dataclasses.fields(longer)] == ["step", "seen", "text"]
    assert longer(3, text="y").seen == []
    assert note(4).seen == [], "made on the way, and wholly"


def test_frozen_ones_are_frozen_and_can_be_keys() -> None:
    @late_dataclass(frozen=True)
    class Key:
        name: str

    assert {Key("a"): 1}[Key("a")] == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        Key("a").name = "b"  # type: ignore[misc]


def test_threads_that_are_first_together_all_get_whole_ones() -> None:
    for _ in range(20):
        note, _longer = kinds()
        made: list[object] = []
        start = threading.Barrier(4)

        def one(kind: type = note, start: threading.Barrier = start, made: list[object] = made) -> None:
            start.wait()
            made.append(kind(1).seen)

        threads = [threading.Thread(target=one) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [[], [], [], []]
