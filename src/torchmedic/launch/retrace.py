"""The second run: when the first one could not see what a sick or failing step had done."""

from __future__ import annotations

import math
import os
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from torchmedic.facts import (
    Amplification,
    Birth,
    CoarseField,
    Crash,
    CutField,
    CutStores,
    ExponentialSeen,
    FileRead,
    HandDistance,
    HeldColumn,
    InplaceChange,
    LossCall,
    LossPairing,
    NormalisedBy,
    Origin,
    Run,
    SickStep,
    StateLoaded,
    SummedUp,
    SumTrial,
    TrainingCourse,
    Trial,
    TruncatedStores,
    UnseenArithmetic,
    UnseenStores,
    WholeTargets,
    WrappedArithmetic,
)
from torchmedic.facts.numerics import SKIPPED
from torchmedic.launch.parent import run_script
from torchmedic.ranks.merging import load_whole, rank_files
from torchmedic.settings import RUN_FILE, Purpose, Settings
from torchmedic.store import RunFileError, append, load

_LONGEST_FIRST_RUN = 600.0
# How far above the loss of a constant answer a first loss may be before the network itself is suspected: a distance is
# squared, the others grow as the answers do.
_FAR_ABOVE = {"mse_loss": 1e5, "-": 1e5}
_FAR_ABOVE_OTHERS = 1e3
# A loss that is suspected where nothing is known of the targets.
_BEYOND_REASON = 1e6
_EARLY = 3
# What an ordinary network does not begin with, where it overflows soon: suspected when the network itself is.
_ABOVE = 30.0
_FEW_STEPS = 20
_BRIEF_FIRST_RUN = 120.0
_MOST_LINES = 20
_SUMS_TRIED = 3
_UNSQUARED = (
    "cross_entropy",
    "nll_loss",
    "binary_cross_entropy_with_logits",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
)
_ENTROPIES = ("cross_entropy", "nll_loss", "binary_cross_entropy_with_logits", "binary_cross_entropy")
_NOTHING = 1e-3
_DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
SEEN_AGAIN = (
    Amplification,
    Birth,
    CutField,
    ExponentialSeen,
    FileRead,
    HeldColumn,
    InplaceChange,
    NormalisedBy,
    Origin,
    SickStep,
    SummedUp,
    SumTrial,
    Trial,
    TruncatedStores,
    WrappedArithmetic,
)


Asked = (
    CoarseField
    | Crash
    | HandDistance
    | LossCall
    | Origin
    | SickStep
    | SummedUp
    | UnseenArithmetic
    | UnseenStores
    | WholeTargets
)
Question = Callable[[Run], Asked | None]


def entered_with_data(run: Run) -> Origin | SickStep | None:
    """What a line of preparation may be behind: values of a batch or a variable, or a learning rate."""
    origin = run.last(Origin)
    sick = run.first(SickStep)
    if sick is not None and sick.what == "learning-rate":
        return sick
    if origin is None or origin.source is None or origin.source.origin not in ("batch", "variable"):
        return None
    return origin


def never_reproduced(run: Run) -> SickStep | None:
    """A sick step that the first run could not run again."""
    sick = run.first(SickStep)
    if sick is None or run.first(Origin) is not None or sick.what in ("update", "learning-rate"):
        return None
    return sick


def spoiled_between_steps(run: Run) -> SickStep | None:
    """A weight or buffer that was bad when the step began, after steps that were healthy: some line wrote it since."""
    sick, origin = run.first(SickStep), run.last(Origin)
    if sick is None or origin is None or origin.source is None or run.info.seconds > _LONGEST_FIRST_RUN:
        return None
    was_loaded = any((loaded.step or 0) >= (sick.step or 1) - 1 for loaded in run.all(StateLoaded))
    is_carried = origin.source.origin in ("parameter", "buffer") and (sick.step or 1) > 1 and not was_loaded
    return sick if is_carried else None


def exploded_from_the_start(run: Run) -> HandDistance | LossCall | SickStep | None:
    """Values that are enormous before anything is learned: a first loss beyond reason, or gradients no one squares."""
    sick = run.first(SickStep)
    if sick is not None:
        is_early = not sick.by_hand and (sick.step or 1) <= _EARLY
        is_of_update = sick.what == "update" and not sick.bad_parameters
        began_so = is_early and (is_of_update or _began_enormous(run, sick))
        return sick if began_so or _began_far_above(run, sick) else None
    calls = (c for c in run.all(LossCall) if c.loss is not None and c.baseline is not None and (c.step or 0) <= _EARLY)
    found = next((c for c in calls if _is_far_above(c.loss or 0.0, _expected(c), c.function)), None)
    by_hand = (d for d in run.all(HandDistance) if (d.step or 0) <= _EARLY)
    return found or next((d for d in by_hand if _is_far_above(d.distance, d.baseline, "-")), None)


def exploded_later(run: Run) -> SickStep | None:
    """Gradients too large to be squared, all of a sudden: an update that left the weights themselves finite."""
    sick = run.first(SickStep)
    if sick is None or sick.what != "update" or sick.bad_parameters or run.info.seconds > _LONGEST_FIRST_RUN:
        return None
    return sick if (sick.step or 1) > _EARLY and not sick.by_hand else None


def _began_enormous(run: Run, sick: SickStep) -> bool:
    """Whether the first loss was beyond reason, or infinite at once, though nothing that was read was bad."""
    origin = run.last(Origin)
    if origin is None or origin.source is not None:
        return False
    layer = origin.amplifier
    is_known = layer is not None and layer.after > _FAR_ABOVE_OTHERS * layer.before
    first = origin.losses[0] if origin.losses else sick.loss if sick.step == 1 and not is_known else None
    return first is not None and abs(first) > _BEYOND_REASON


def _began_far_above(run: Run, sick: SickStep) -> bool:
    """Whether the very first loss was already many times that of a constant answer, a few steps before the end."""
    origin, courses = run.last(Origin), list(run.all(TrainingCourse))
    is_known = origin is None or origin.source is not None or sick.by_hand or (sick.step or 1) > _FEW_STEPS
    if is_known or len(courses) != 1 or not courses[0].head:
        return False
    calls = [c for c in run.all(LossCall) if c.baseline is not None]
    levels = [max(c.baseline or 0.0, 1e-3) * (_ABOVE if c.function in _UNSQUARED else _ABOVE**2) for c in calls]
    levels += [max(d.baseline, 1e-3) * _ABOVE**2 for d in run.all(HandDistance)]
    return bool(levels) and courses[0].head[0] > max(levels)


def _expected(call: LossCall) -> float:
    """What a constant answer would lose; where all targets are alike that is nothing, which no network begins with."""
    if (call.baseline or 0.0) >= _NOTHING:
        return call.baseline or 0.0
    if call.function in _ENTROPIES:
        return math.log(2)
    return max(abs(call.target.minimum or 0.0), abs(call.target.maximum or 0.0))


def _is_far_above(loss: float, baseline: float, function: str) -> bool:
    return loss > _FAR_ABOVE.get(function, _FAR_ABOVE_OTHERS) * max(baseline, _NOTHING)


def sum_to_try(run: Run) -> SummedUp | None:
    """A sum of many terms in a network whose first answers are enormous, unless one is known to be the cause."""
    tried = {trial.line: trial.loss for trial in run.all(SumTrial)}
    sums = list(run.all(SummedUp)) if run.info.seconds <= _LONGEST_FIRST_RUN else []
    if any(tried.get(str(one.where), one.loss) <= one.loss / _FAR_ABOVE_OTHERS for one in sums):
        return None
    return next((one for one in sums if str(one.where) not in tried), None)


def coarse_since_then(run: Run) -> CoarseField | None:
    """An array that differences of numbers merged by float32 would explain, where the numbers are no longer held."""
    is_short = run.info.seconds <= _LONGEST_FIRST_RUN and run.first(HeldColumn) is None
    return run.first(CoarseField) if is_short else None


def cut_since_then(run: Run) -> WholeTargets | None:
    """Targets of a distance that a line has made whole numbers of, where nothing tells what they were before."""
    pairings = [seen for seen in run.all(LossPairing) if seen.function in _DISTANCES]
    is_short = run.info.seconds <= _LONGEST_FIRST_RUN and run.first(CutField) is None
    are_whole = bool(pairings) and all(seen.whole and seen.rounded is None for seen in pairings)
    return run.first(WholeTargets) if is_short and are_whole else None


def narrow_since_then(run: Run) -> UnseenArithmetic | None:
    """Lines that may have wrapped small integers around, in a run that is soon made again.

    Where a whole project's arithmetic is in question, a suspicion of each of its lines is worth no second start.
    """
    is_brief = run.info.seconds <= _BRIEF_FIRST_RUN and run.first(SickStep) is None and run.first(Crash) is None
    unseen = run.first(UnseenArithmetic) if is_brief and run.first(WrappedArithmetic) is None else None
    return unseen if unseen is not None and len(unseen.lines) <= _MOST_LINES else None


def stored_since_then(run: Run) -> UnseenStores | None:
    """Lines that may have cut fractions by putting them into whole numbers, in a run that is soon made again."""
    is_brief = run.info.seconds <= _BRIEF_FIRST_RUN and run.first(SickStep) is None and run.first(Crash) is None
    unseen = run.first(UnseenStores) if is_brief and run.first(CutStores) is None else None
    return unseen if unseen is not None and len(unseen.lines) <= _MOST_LINES else None


def changed_in_place(run: Run) -> Crash | None:
    """A `backward` that found a saved tensor changed, in a run that may be waited for once more."""
    crash = run.first(Crash)
    found = crash is not None and "modified by an inplace operation" in crash.message
    return crash if found and run.info.seconds <= _LONGEST_FIRST_RUN else None


# Each is asked in turn what it would look at again, since an answer may need the one before it.
SECOND_RUNS: tuple[tuple[Purpose, Question], ...] = (
    ("wake", never_reproduced),
    ("wake", spoiled_between_steps),
    ("retrace", entered_with_data),
    ("versions", changed_in_place),
    ("amplification", exploded_from_the_start),
    *((("averaging", sum_to_try),) * _SUMS_TRIED),
    ("exponentials", exploded_later),
    ("locals", coarse_since_then),
    ("casts", cut_since_then),
    ("narrow", narrow_since_then),
    ("stores", stored_since_then),
)


def look_again_if_needed(command: Sequence[str], folder: Path, settings: Settings) -> None:
    """Run the script again, silently, where only that can tell the cause; add what was seen to the run."""
    try:
        for purpose, asks in SECOND_RUNS:
            asked = asks(load(folder))
            if asked is not None:
                _run_again(command, folder, settings_again(settings, purpose, asks, asked))
    except RunFileError:
        return


def look_again_at_ranks(command: Sequence[str], folder: Path, settings: Settings, seconds: float) -> None:
    """Start all ranks again, silently, where a line outside the data set may have made what one of them read.

    Ranks on other machines could not be started from here.
    """
    try:
        ranks = load_whole(folder).ranks
        sick, step = next(((run, asked.step) for run in ranks if (asked := entered_with_data(run))), (None, None))
        if sick is None or sick.first(Birth) is not None or len(ranks) < sick.info.world:
            return
        seen = _seen_by_ranks(command, folder, replace(settings, purpose="retrace", until_step=step), seconds)
        births = (o for run in seen.ranks if run.info.rank == sick.info.rank for o in run.observations)
        append(_file_of(sick, folder), [o for o in births if isinstance(o, SEEN_AGAIN)])
    except RunFileError:
        return


def _seen_by_ranks(command: Sequence[str], folder: Path, settings: Settings, seconds: float) -> Run:
    second = folder / settings.purpose
    second.mkdir()
    told = replace(settings, run_folder=str(second), run_file=RUN_FILE, shared_folder="", rank=None, parent=os.getpid())
    run_script(command, second, told, silent=True, attend=_killed_after(seconds))
    seen = load_whole(second)
    shutil.rmtree(second, ignore_errors=True)
    return seen


def _killed_after(seconds: float) -> Callable[[int], None]:
    """Ends a process that takes longer; the ranks that it started end with it."""
    until = time.monotonic() + seconds

    def attend(pid: int) -> None:
        if time.monotonic() > until:
            os.kill(pid, signal.SIGKILL)

    return attend


def _file_of(rank: Run, folder: Path) -> Path:
    """The run file of a rank; the process that starts the others may be one itself."""
    files = [file for file in rank_files(folder) if load(file).info.started == rank.info.started]
    return files[0] if files else folder / RUN_FILE


def settings_again(settings: Settings, purpose: Purpose, asks: Question, asked: Asked) -> Settings:
    """The settings of a second run, that says when it is to look."""
    sick = asked if isinstance(asked, SickStep) else None
    # A loop without an optimizer makes no steps that a second run could count.
    step = 1 if sick is not None and sick.by_hand else asked.step
    backward = sick.backwards - 1 if sick is not None and asks is spoiled_between_steps else None
    trial = str(asked.where) if isinstance(asked, SummedUp) else ""
    trial = f"{asked.cast.file}:{asked.cast.line}" if isinstance(asked, WholeTargets) else trial
    trial = sick.what if sick is not None and sick.way == SKIPPED else trial
    trial = ";".join(asked.functions) if isinstance(asked, CoarseField) else trial
    trial = ";".join(asked.lines) if isinstance(asked, (UnseenArithmetic, UnseenStores)) else trial
    return replace(settings, purpose=purpose, until_step=step, until_backward=backward, trial=trial)


def _run_again(command: Sequence[str], folder: Path, settings: Settings) -> None:
    second = folder / settings.purpose
    second.mkdir()
    run_script(command, second, replace(settings, run_folder=str(second), parent=os.getpid()), silent=True)
    seen = load(second)
    append(folder / RUN_FILE, [o for o in seen.observations if isinstance(o, SEEN_AGAIN)])
    shutil.rmtree(second, ignore_errors=True)
