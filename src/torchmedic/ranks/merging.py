"""One Run out of the files of all ranks: read side by side, kept apart, so that rules can compare them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from torchmedic.facts import (
    AwaitedBy,
    ChildDeath,
    CollectiveCalls,
    Crash,
    Interrupted,
    Joining,
    LastSeen,
    Observation,
    PeerLost,
    RankEnded,
    RankSeen,
    Run,
    SickStep,
    Skipped,
    Standing,
)
from torchmedic.ranks.calls import read_calls
from torchmedic.ranks.folders import life_of
from torchmedic.ranks.marks import was_stopped
from torchmedic.ranks.whereabouts import last_seen
from torchmedic.settings import RUN_FILE
from torchmedic.store import RunFileError, load

_READERS = 8
_OF_SIGNALS = 128  # a status from here on is the shell's word for a signal
_ECHO = re.compile(
    r"(?i)connection (?:closed|reset) by (?:peer|remote)|remote process exited|broken pipe"
    r"|connection was (?:likely )?closed"
)
_LIMIT = re.compile(r"(?i)(?:waiting |Timeout\(ms\)=)(\d+)")
_TIME_OUT = re.compile(r"(?i)timed out waiting \d+ ?ms|watchdog caught collective operation timeout")


def load_whole(path: Path) -> Run:
    """The run in a folder, with its ranks where it has some; a run file alone is a run of one process."""
    files = rank_files(path) if path.is_dir() else []
    told = _without_kill if path.is_dir() and was_stopped(path) else _as_it_is
    if not files:
        return told(load(path))
    main = _load_or_none(path / RUN_FILE)
    main = told(main) if main is not None else None
    with ThreadPoolExecutor(_READERS) as readers:
        ranks = [told(run) for run in readers.map(_load_rank, files) if run is not None]
    if main is None and not ranks:
        return load(files[0])  # says why it cannot be read
    if main is not None and main.first(RankSeen) is not None:
        ranks.append(_as_rank(main, path))
        main = None
    return merged(main, ranks)


def _as_it_is(run: Run) -> Run:
    return run


def _without_kill(run: Run) -> Run:
    """A run that we ended because it stood still: the kill is no cause of anything."""
    kept = tuple(seen for seen in run.observations if not isinstance(seen, (ChildDeath, RankEnded)))
    return replace(run, observations=kept, info=replace(run.info, signal=None))


def rank_files(folder: Path) -> list[Path]:
    """The run files of ranks below a run folder."""
    return sorted(folder.glob("rank*/rank*.db"))


def merged(main: Run | None, ranks: Iterable[Run]) -> Run:
    """Put the ranks beside each other; `main` is the process that started them, where it is none of them."""
    latest: dict[int, Run] = {}
    for run in sorted(_of_last_life(ranks), key=lambda run: run.info.started):
        latest[run.info.rank] = run
    ordered = tuple(latest[rank] for rank in sorted(latest))
    if not ordered:
        return main or Run()
    ordered = _with_those_waiting(_with_ends(tuple(map(_without_echo, ordered)), main))
    own = tuple(_worth_telling(main, ordered)) if main is not None else ()
    first = main.info if main is not None else ordered[0].info
    info = replace(
        first,
        torch=ordered[0].info.torch or first.torch,
        steps=max(run.info.steps for run in ordered),
        # Processes that train apart belong to no group that would say how many they are.
        world=max(len(ordered), *(run.info.world for run in ordered)),
        stopped_by_us=first.stopped_by_us or any(run.info.stopped_by_us for run in ordered),
        stopped_in=max(first.stopped_in, *(run.info.stopped_in for run in ordered)),
        skipped=_skipped_by(ordered),
        interrupted=any(run.first(Interrupted) is not None for run in ordered),
        folder=next((run.info.folder for run in ordered if run.first(SickStep) is not None), first.folder),
    )
    return Run(info=info, observations=own + tuple(o for run in ordered for o in run.observations), ranks=ordered)


def _skipped_by(ranks: tuple[Run, ...]) -> Skipped:
    """All ranks leave the same steps out, each for samples of its own."""
    most = max((run.info.skipped for run in ranks), key=lambda skipped: skipped.count)
    samples = dict.fromkeys(sample for run in ranks for sample in run.info.skipped.samples)
    return replace(most, samples=tuple(sorted(samples)))


def _of_last_life(ranks: Iterable[Run]) -> list[Run]:
    """Ranks that a launcher started again belong together; those of the life before may have been more.

    A last life that never came together has nothing to tell: why ranks were started again is told by the one before.
    """
    found = list(ranks)
    lives = {life_of(run.info.folder) for run in found}
    last = max(lives, default=0)
    worked = {life_of(run.info.folder) for run in found if run.first(RankSeen) or run.first(Standing)}
    told = max(worked, default=last)
    return [run for run in found if life_of(run.info.folder) == told or _trains_apart(run)] if last else found


def _trains_apart(run: Run) -> bool:
    """Processes that belong to no group are not started again together."""
    return run.first(RankSeen) is None and run.first(Joining) is None


def _worth_telling(main: Run, ranks: tuple[Run, ...]) -> Iterable[Observation]:
    """What the starting process saw. Its own exception only says that a rank failed, where that rank has said how."""
    told = any(
        run.first(Crash) is not None
        or run.first(RankEnded) is not None
        or run.info.stopped_by_us
        or run.info.exit_code not in (None, 0)
        for run in ranks
    )
    return (seen for seen in main.observations if not (isinstance(seen, Crash) and told))


def _with_ends(ranks: tuple[Run, ...], main: Run | None) -> tuple[Run, ...]:
    """Give each rank what the process that started it, or the one that started all, knows of its end."""
    ends = {run.info.rank: end for run in ranks if (end := _own_end(run)) is not None}
    ends |= {seen.rank: seen for seen in main.all(RankEnded)} if main is not None else {}
    return tuple(_with_end(run, ends[run.info.rank]) if run.info.rank in ends else run for run in ranks)


def _with_those_waiting(ranks: tuple[Run, ...]) -> tuple[Run, ...]:
    """Give each rank that is in no collective the ranks that are in one."""
    waiting = [run.info.rank for run in ranks if _is_in_collective(run)]
    if not waiting:
        return ranks
    awaited = AwaitedBy(ranks=tuple(waiting))
    return tuple(
        run if run.info.rank in waiting else replace(run, observations=(*run.observations, awaited)) for run in ranks
    )


def _is_in_collective(run: Run) -> bool:
    return any(not call.done for seen in run.all(CollectiveCalls) for call in seen.calls)


def _with_end(run: Run, end: RankEnded) -> Run:
    """However a rank was started, a kill from outside is told in one way: by its end."""
    kept = (seen for seen in run.observations if not (isinstance(seen, ChildDeath) and seen.name == end.signal))
    return replace(run, observations=(*kept, end))


def _own_end(run: Run) -> RankEnded | None:
    """The end of a rank that was killed, or left with a status and said nothing else of why."""
    at = run.info.started + run.info.seconds
    death = run.first(ChildDeath)
    if death is not None and death.name == "SIGKILL":
        return RankEnded(rank=run.info.rank, signal=death.name, at=at, last_seen=death.last_seen)
    status = run.info.exit_code or 0
    if not 0 < status < _OF_SIGNALS or run.info.stopped_by_us or run.first(Crash) or run.first(PeerLost):
        return None
    return RankEnded(rank=run.info.rank, status=status, at=at)


def _without_echo(run: Run) -> Run:
    """An exception that only tells of another rank's end is no crash of its own."""
    crash = run.first(Crash)
    if crash is None or len(crash.frames) == 0 or not (_ECHO.search(crash.message) or _TIME_OUT.search(crash.message)):
        return run
    lost = PeerLost(
        message=crash.message.strip().splitlines()[0],
        where=crash.user_frame.location if crash.user_frame else None,
        timed_out=bool(_TIME_OUT.search(crash.message)),
        limit=int(limit[1]) / 1000 if (limit := _LIMIT.search(crash.message)) else None,
        step=crash.step,
    )
    kept = tuple(seen for seen in run.observations if seen is not crash)
    return replace(run, observations=(*kept, lost))


def _load_rank(file: Path) -> Run | None:
    run = _load_or_none(file)
    return None if run is None else _as_rank(run, file.parent)


def _as_rank(run: Run, folder: Path) -> Run:
    calls = read_calls(folder)
    where = last_seen(folder) if not run.info.ended else None
    more: list[Observation] = [CollectiveCalls(calls=calls)] if calls else []
    more += [LastSeen(where=where, step=run.info.steps)] if where is not None else []
    # One that was killed has not said how many steps it made; its collectives have.
    steps = run.info.steps if run.info.ended else max(run.info.steps, *(call.step for call in calls), 0)
    info = replace(run.info, steps=steps, folder=run.info.folder or _shown(folder))
    return replace(run, info=info, observations=(*run.observations, *more))


def _shown(folder: Path) -> str:
    """A folder as it would be typed, below the working directory."""
    path = folder.absolute()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _load_or_none(path: Path) -> Run | None:
    try:
        return load(path)
    except RunFileError:
        return None
