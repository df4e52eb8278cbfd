"""The allocator, the cards, the laws of growth and the flags, each by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchmedic.checkups.memory.allocator import MIB, CachingAllocator
from torchmedic.checkups.memory.cards import GIB, UnknownCard, card_named
from torchmedic.checkups.memory.dimensions import Input, dimensions_of, terms_of
from torchmedic.checkups.memory.growth import fit
from torchmedic.cli._memory_auto import dimension_law, size_axes
from torchmedic.cli._memory_axes import Axis, batch_axis, law_text, parse_sweep, with_flag
from torchmedic.cli._output import OneLineError
from torchmedic.facts import MemoryPlan
from torchmedic.facts.memory_plan import Dimension, GrowthTerm


def test_small_requests_share_a_segment_of_two_mebibytes() -> None:
    allocator = CachingAllocator()
    allocator.allocate(1)
    allocator.allocate(1000)
    assert (allocator.allocated, allocator.reserved) == (512 + 1024, 2 * MIB)


def test_large_requests_take_twenty_mebibytes_or_their_own_size() -> None:
    allocator = CachingAllocator()
    allocator.allocate(3 * MIB)
    assert allocator.reserved == 20 * MIB
    allocator.allocate(31 * MIB)
    assert allocator.reserved == 20 * MIB + 32 * MIB


def test_freed_memory_is_used_again_and_neighbours_merge() -> None:
    allocator = CachingAllocator()
    blocks = [allocator.allocate(4 * MIB) for _ in range(5)]
    for block in blocks:
        allocator.release(block)
    allocator.allocate(20 * MIB)
    assert (allocator.allocated, allocator.reserved) == (20 * MIB, 20 * MIB)


def test_an_expandable_segment_grows_where_others_fragment() -> None:
    plain, expandable = CachingAllocator(), CachingAllocator(expandable=True)
    for allocator in (plain, expandable):
        first = allocator.allocate(40 * MIB)
        allocator.release(first)
        allocator.allocate(60 * MIB)
    assert (plain.reserved, expandable.reserved) == (100 * MIB, 60 * MIB)


@given(st.lists(st.tuples(st.integers(1, 64 * MIB), st.booleans()), max_size=60), st.booleans())
def test_the_books_of_the_allocator_balance(requests: list[tuple[int, bool]], expandable: bool) -> None:
    allocator = CachingAllocator(expandable=expandable)
    held = []
    for size, release in requests:
        held.append(allocator.allocate(size))
        if release:
            allocator.release(held.pop(len(held) // 2))
        assert allocator.allocated == sum(block.size for block in held) <= allocator.reserved
    for block in held:
        allocator.release(block)
    assert allocator.allocated == 0
    allocator.give_back_unused()
    assert allocator.reserved == 0


@pytest.mark.parametrize(
    ("text", "memory"),
    [("24GiB", 24 * GIB), ("80gb", 80 * 10**9), ("512 MiB", GIB // 2), ("1TiB", 1024 * GIB), ("40g", 40 * GIB)],
)
def test_a_card_may_be_a_size(text: str, memory: int) -> None:
    assert card_named(text).memory == memory


def test_an_unknown_card_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownCard, match="A100-80"):
        card_named("voodoo")


def test_a_name_of_cards_of_two_sizes_is_not_guessed() -> None:
    with pytest.raises(UnknownCard, match="A100-40 or A100-80"):
        card_named("NVIDIA A100")
    assert card_named("rtx 3090").name == card_named("3090").name


def test_growth_is_the_largest_of_the_laws_of_the_phases() -> None:
    sizes = [1, 2, 4, 8]
    growth = fit(sizes, [{"optimizer": 500, "backward": 100 + 10 * n * n} for n in sizes])
    assert growth.phase_at(2) == "optimizer"
    assert growth.phase_at(20) == "backward"
    assert growth.largest_below(4101, 8) == 20
    assert "n^2" in law_text(growth.laws["backward"], "n")


def test_the_flags_that_set_sizes_are_told_from_others() -> None:
    flags = {"--seed": 7, "--nodes": 900, "--epochs": 20, "--batch-size": 32, "--hidden": 64, "--seq_len": 128, "-j": 4}
    plan = _plan(flags=flags)
    assert [axis.name for axis in size_axes(["train.py"], plan)] == ["batch-size", "seq_len", "nodes"]


def test_the_law_of_the_shapes_has_a_term_for_each_power() -> None:
    terms = (GrowthTerm(("nodes", "nodes"), 4_000_000), GrowthTerm((), 1 << 20), GrowthTerm(("nodes",), 64_000))
    plan = _plan(dimensions=(Dimension("nodes", 1000),), terms=terms)
    assert dimension_law(plan) == "1.00 MiB + 4 bytes x nodes^2 + 64 bytes x nodes"


def _plan(**known: Any) -> MemoryPlan:
    sizes = dict.fromkeys(("steps", "peak_allocated", "peak_reserved", "peak_requested", "context", "peak_step"), 1)
    return MemoryPlan(mode="fake-cuda", card="H200", phase="backward", **sizes, **known)


def test_a_flag_is_replaced_or_added() -> None:
    assert with_flag(["t.py", "--bs=4"], "--bs", "8") == ["t.py", "--bs=8"]
    assert with_flag(["t.py"], "--bs", "8") == ["t.py", "--bs", "8"]
    assert with_flag(["t.py", "train.bs=4"], "--train.bs", "8") == ["t.py", "train.bs=8"]


def test_the_batch_is_found_on_the_command_line_in_settings_and_among_the_flags() -> None:
    plan = MemoryPlan(
        mode="fake-cuda", card="H200", steps=2, peak_allocated=1, peak_reserved=1, peak_requested=1, context=1,
        phase="forward", peak_step=1, loader_batch=7, flags={"--bs": 5},
    )  # fmt: skip
    assert batch_axis(["t.py", "--batch-size", "4"], plan) == Axis("batch-size", "--batch-size", 4)
    assert batch_axis(["t.py", "data.batch_size=4"], plan) == Axis("data.batch_size", "data.batch_size", 4)
    assert batch_axis(["t.py"], plan) == Axis("bs", "--bs", 5)
    assert batch_axis(["t.py"], replace(plan, flags={})) == Axis("batch", "", 7)


@pytest.mark.parametrize("text", ["batch-size", "batch-size=", "batch-size=4", "=4,8", "batch-size=a,b"])
def test_an_unclear_sweep_is_refused(text: str) -> None:
    with pytest.raises(OneLineError, match="--sweep"):
        parse_sweep(text)


@pytest.mark.parametrize("size", ["-5GiB", "0GiB", "450MiB"])
def test_a_card_without_room_is_refused(size: str) -> None:
    with pytest.raises(UnknownCard, match="no room"):
        card_named(size)


def test_a_row_of_bytes_for_a_square_matrix_grows_with_the_square() -> None:
    terms = terms_of([((4 * 900 * 900,), 100), ((900 * 64,), 10)], (Dimension("nodes", 900),))
    assert {term.dimensions: term.bytes for term in terms} == {("nodes", "nodes"): 100, ("nodes",): 10}


def test_no_law_is_read_off_one_of_several_graphs() -> None:
    graph = [Input((900, 32), False), Input((2, 5000), True, 899)]
    other = [Input((400, 32), False), Input((2, 2000), True, 399)]
    lengths = {900, 5000, 400, 2000, 32}
    assert dimensions_of([*graph, *other], [32], lengths) == ()
    # Of another batch nothing is held any more, and edges to be told are no second graph.
    assert dimensions_of([*graph, *other], [32], {900, 5000, 32}) != ()
    assert dimensions_of([*graph, Input((2, 2000), True, 899)], [32], lengths) != ()
