"""Rules about several ranks, on hand-made facts: what a machine without cards cannot show."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from torchmedic.cli.where import stack_lines
from torchmedic.facts import (
    ChildDeath,
    CollectiveCall,
    CollectiveCalls,
    Crash,
    Frame,
    Interrupted,
    Joining,
    Location,
    Observation,
    PeerLost,
    RandomDraws,
    RankDevice,
    RankSeen,
    RankStep,
    Replica,
    Run,
    RunInfo,
    SourceFile,
    Standing,
    WrapperSeen,
)
from torchmedic.ranks.folders import new_rank, run_file_of
from torchmedic.ranks.marks import note_stop
from torchmedic.ranks.merging import load_whole, merged
from torchmedic.ranks.standstill import everyone_stands
from torchmedic.render.plain import to_dict
from torchmedic.store import append
from torchmedic.triage import examine

LINE = Location(file="train.py", line=12, function="main", source='    device = torch.device("cuda")')


def ranks(*facts: tuple[Observation, ...]) -> Run:
    """A run with one rank for each set of facts."""
    world = len(facts)
    return merged(
        None, [Run(info=RunInfo(rank=rank, world=world), observations=seen) for rank, seen in enumerate(facts)]
    )


def a_card(identity: str, *, host: str = "node0", visible: int = 4) -> RankDevice:
    return RankDevice(device="cuda:0", identity=identity, visible=visible, host=host, chosen_at=LINE, step=1)


def codes(run: Run) -> list[str]:
    return [diagnosis.code for diagnosis in examine(run).diagnoses]


def test_two_ranks_on_one_card_are_named() -> None:
    verdict = examine(ranks((a_card("GPU-a"),), (a_card("GPU-b"),), (a_card("GPU-a"),)))
    (diagnosis,) = verdict.diagnoses
    assert diagnosis.code == "WIR115"
    assert diagnosis.headline == "ranks 0 and 2 compute on the same card, `cuda:0`"
    assert diagnosis.where == LINE


@pytest.mark.parametrize(
    "cards",
    [
        pytest.param((a_card("GPU-a"), a_card("GPU-b")), id="each sees its own card as cuda:0"),
        pytest.param((a_card("GPU-a", visible=1), a_card("GPU-a", visible=1)), id="there is one card only"),
        pytest.param((a_card("", visible=2), a_card("", visible=2)), id="cards cannot be told apart"),
        pytest.param((a_card("GPU-a"), a_card("GPU-a", host="node1")), id="other machines"),
    ],
)
def test_ranks_on_cards_of_their_own_are_left_alone(cards: tuple[RankDevice, ...]) -> None:
    assert codes(ranks(*((card,) for card in cards))) == []


def a_step(step: int, batch: str, state: str) -> tuple[Observation, ...]:
    draws = RandomDraws(step=step, states={"input torch": state}, places={"input torch": LINE})
    return (RankStep(step=step, batch=batch, wrapped=1), draws)


@pytest.mark.parametrize(
    ("batches", "states", "expected"),
    [
        (("a", "b"), ("s", "s"), ["WIR112"]),
        (("a", "b"), ("s", "t"), []),
        (("a", "a"), ("s", "s"), ["WIR096"]),
    ],
    ids=["other data, same numbers", "other data, other numbers", "same data"],
)
def test_equal_draws_count_where_data_differ(
    batches: tuple[str, str], states: tuple[str, str], expected: list[str]
) -> None:
    by_rank = [
        tuple(seen for step in range(1, 5) for seen in a_step(step, f"{batch}{step}", f"{state}{step}"))
        for batch, state in zip(batches, states, strict=True)
    ]
    assert codes(ranks(*by_rank)) == expected


def replicas(start: float, end: float, exchanged: int) -> tuple[Observation, ...]:
    return tuple(
        Replica(step=step, norms={"weight": norm}, exchanged=exchanged if step else 0, built=LINE)
        for step, norm in ((0, start), (8, end))
    )


@pytest.mark.parametrize(
    ("starts", "ends", "exchanged", "expected"),
    [
        ((1.0, 2.0), (3.0, 4.0), 16, ["WIR099"]),
        ((1.0, 1.0), (3.0, 4.0), 0, ["WIR110"]),
        ((1.0, 2.0), (3.0, 4.0), 0, []),
        ((1.0, 1.0), (3.0, 3.0), 0, []),
        ((1.0, 1.0), (3.0, 4.0), 1, []),
    ],
    ids=["begun apart", "never exchanged", "models of their own", "still equal", "averaged now and then"],
)
def test_models_without_a_wrapper_are_compared(
    starts: tuple[float, float], ends: tuple[float, float], exchanged: int, expected: list[str]
) -> None:
    by_rank = [replicas(start, end, exchanged) for start, end in zip(starts, ends, strict=True)]
    assert codes(ranks(*by_rank)) == expected


@pytest.mark.parametrize(("steps", "told"), [((96, 96), ["WIR093"]), ((120, 96), [])])
def test_steps_are_compared_where_ranks_make_as_many(steps: tuple[int, int], told: list[str]) -> None:
    parts = [
        Run(
            info=RunInfo(rank=rank, world=2, steps=made, ended=1.0),
            observations=(
                WrapperSeen(step=1, built=LINE),
                RankStep(step=32, wrapped=1, norms={"weight": 1.0}),
                RankStep(step=64, wrapped=1, norms={"weight": 1.0 + rank}),
            ),
        )
        for rank, made in enumerate(steps)
    ]
    assert codes(merged(None, parts)) == told


def test_a_rank_that_was_interrupted_has_not_ended_by_itself() -> None:
    call = CollectiveCall(number=7, op="gradients", where=LINE, step=6, done=False)
    waits = (CollectiveCalls(calls=(call,)), Standing(rank=0, still=20.0, patience=15.0, waits_for="gradients"))
    loop = Location(file="train.py", line=30, function="pick", source="    while True:")
    at_work = (CollectiveCalls(calls=()), Interrupted(at=100.0, where=loop))
    parts = [
        Run(info=RunInfo(rank=rank, world=2, steps=6, ended=101.0), observations=seen)
        for rank, seen in enumerate((waits, at_work))
    ]
    (diagnosis,) = examine(merged(None, parts)).diagnoses
    assert (diagnosis.code, diagnosis.where, diagnosis.ranks) == ("RNK017", loop, (1,))
    assert diagnosis.headline == "rank 1 was at work when the run was interrupted, and rank 0 waited for it"


def a_call(number: int, op: str, line: int, *, done: bool = True) -> CollectiveCall:
    return CollectiveCall(number=number, op=op, where=Location(file="train.py", line=line, function="main"), done=done)


def test_a_call_on_both_sides_of_an_if_is_skipped_by_nobody() -> None:
    """Rank 0 has the barrier on one line, rank 1 on another: what parts them is the call that rank 1 makes instead."""
    standing = Standing(patience=15.0, still=20.0, waits_for="collective", step=4)
    one = (a_call(1, "barrier", 10), a_call(2, "barrier", 10, done=False))
    other = (a_call(1, "barrier", 12), a_call(2, "all_reduce", 20, done=False))
    seen = [(CollectiveCalls(calls=calls), standing) for calls in (one, other)]
    diagnosis = examine(ranks(*seen)).diagnoses[0]
    assert "barrier`, which" not in diagnosis.headline


def test_ranks_of_the_life_before_are_not_told_with_those_of_the_last() -> None:
    def rank(number: int, folder: str, started: float) -> Run:
        joined = RankSeen(rank=number, world=2)
        return Run(info=RunInfo(rank=number, world=2, folder=folder, started=started), observations=(joined,))

    lives = [rank(0, "r/rank0", 1.0), rank(1, "r/rank1", 1.0), rank(2, "r/rank2", 1.0)]
    again = [rank(0, "r/rank0-1", 2.0), rank(1, "r/rank1-1", 2.0)]
    assert [part.info.folder for part in merged(None, [*lives, *again]).ranks] == ["r/rank0-1", "r/rank1-1"]


@pytest.mark.parametrize(("patience", "stands"), [(0.0, True), (15.0, False)])
def test_a_starter_that_only_waits_for_its_ranks_does_not_delay_the_news(patience: float, stands: bool) -> None:
    """One that waits for a child has long patience; it counts only where it has said itself that it stands."""
    rank = Run(info=RunInfo(rank=0), observations=(Standing(still=20.0, patience=15.0, waits_for="loader"),))
    starter = Run(observations=(Standing(still=20.0, patience=patience, waits_for="process"),))
    assert everyone_stands(merged(starter, [rank])) is stands


def test_a_kill_by_which_we_end_a_hang_is_nobodys_death(tmp_path: Path) -> None:
    folder = new_rank(tmp_path, 0)
    append(folder / run_file_of(0), [ChildDeath(signal=9, name="SIGKILL")])
    assert [found.code for found in examine(load_whole(tmp_path)).diagnoses] != []
    note_stop(tmp_path)
    assert load_whole(tmp_path).first(ChildDeath) is None


def test_a_life_that_never_came_together_leaves_the_word_to_the_one_before() -> None:
    def life(number: int, what: Observation) -> list[Run]:
        folders = [f"r/rank{rank}-{number}" if number else f"r/rank{rank}" for rank in (0, 1)]
        infos = [RunInfo(rank=rank, world=2, folder=folder, started=number) for rank, folder in enumerate(folders)]
        return [Run(info=info, observations=(what,)) for info in infos]

    lives = [*life(0, RankSeen(rank=0, world=2)), *life(1, Joining(rank=0, world=2))]
    assert [part.info.folder for part in merged(None, lives).ranks] == ["r/rank0", "r/rank1"]


def test_a_killed_rank_is_told_in_one_way_however_it_was_started() -> None:
    death = ChildDeath(signal=9, name="SIGKILL", last_seen=LINE)
    (diagnosis,) = examine(ranks((death,), (PeerLost(message="Connection closed by peer"),))).diagnoses
    assert (diagnosis.code, diagnosis.ranks, diagnosis.where) == ("RNK008", (0,), LINE)


def test_an_interrupted_rank_makes_an_interrupted_run() -> None:
    assert to_dict(examine(ranks((Interrupted(at=1.0),), ())))["run"]["interrupted"]
    assert not to_dict(examine(ranks((), ())))["run"]["interrupted"]


def test_every_line_of_the_users_own_is_shown_and_those_of_libraries_are_counted() -> None:
    library = [Location(file=f"{torch.__path__[0]}/nn/module.py", line=n, function="call") for n in range(9)]
    own = [Location(file=str(Path("train.py").absolute()), line=n, function=f"f{n}") for n in range(20)]
    lines = list(stack_lines((*library, *own)))
    assert len(lines) == 3 + 1 + 20
    assert lines[3] == "… 6 more of libraries"


@pytest.mark.parametrize(
    ("message", "headline"),
    [
        (
            "ProcessGroupGloo::allgather: invalid output tensor list at index 0 (expected length 2, got 3)",
            "`all_gather` is given a list of 3 tensors in a group of 2 ranks",
        ),
        (
            "ProcessGroupGloo::gather: Incorrect output list size 1. Output list size should be 2, same as size of the",
            "`all_gather` is given a list of 1 tensors in a group of 2 ranks",
        ),
        (
            "Argument ``gather_list`` must be specified on destination rank.",
            "`all_gather` is given no list on the one rank that needs it",
        ),
        (
            "ProcessGroupGloo::broadcast: invalid root rank: 5",
            "`all_gather` names rank 5 as its root, which the group does not have",
        ),
        (
            "Check failed: outputShape[0] * worldSize == inputShape[0] (8 vs. 4).",
            "what `all_gather` gathers or scatters is not as many times as large as there are ranks",
        ),
    ],
)
def test_a_collective_that_refuses_its_arguments_is_explained(message: str, headline: str) -> None:
    at = Location(file="train.py", line=2, function="main", source="dist.all_gather(out, x)")
    frame = Frame(location=at, is_user=True)
    source = SourceFile(file="train.py", text="out = [x]\ndist.all_gather(out, x)\n")
    crash = Crash(exception="RuntimeError", message=message, frames=(frame,))
    (diagnosis,) = examine(Run(observations=(source, crash))).diagnoses
    assert (diagnosis.code, diagnosis.headline) == ("ERR250", headline)
