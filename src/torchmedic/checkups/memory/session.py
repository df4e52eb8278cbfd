"""Inside the process of the script: pretend a card, follow the training, write the plan, leave."""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from torchmedic.checkups.memory.asking import PLAN_FILE, Request
from torchmedic.checkups.memory.held_files import hold_files
from torchmedic.checkups.memory.held_libraries import lead_libraries
from torchmedic.checkups.memory.kernel_guard import guard_files
from torchmedic.facts import Location, MemoryPlan, to_plain
from torchmedic.facts.memory_plan import LostTrack, Remedied
from torchmedic.probes.source.frames import is_own_file, is_user_file, location, user_location

if TYPE_CHECKING:
    from _typeshed import TraceFunction

    from torchmedic.checkups.memory.afterwards import Afterwards
    from torchmedic.checkups.memory.following import Following
    from torchmedic.checkups.memory.frameworks import Loaders
    from torchmedic.checkups.memory.overlay import Overlay
    from torchmedic.checkups.memory.pretending import Pretence


_LOOKS = 8


def start(folder: Path, after_import: Callable[[str, Callable[[], None]], None]) -> None:
    """Prepare this process; the script has not begun yet."""
    request = Request.read(folder)
    began = time.monotonic()
    _note_exits()
    overlay = hold_files(folder)
    lead_libraries(overlay, after_import)
    if overlay is not None and request.device != "real":  # a driver has files of its own
        guard_files(overlay.free)
    after_import("torch", lambda: _begin(request, folder, began, after_import, overlay))


def _begin(
    request: Request,
    folder: Path,
    began: float,
    after_import: Callable[[str, Callable[[], None]], None],
    overlay: Overlay | None,
) -> None:
    if request.device == "real":
        _require_card()
        finish = _measure(folder, began, overlay)
    else:
        finish = pretend(request, after_import, folder, began, overlay)
    atexit.register(lambda: finish(_lost()))


def _require_card() -> None:
    import torch

    if not torch.cuda.is_available():
        sys.stderr.write("torch sees no GPU on this machine, and `--real` measures on one\n")
        sys.stderr.flush()
        os._exit(2)


def _leave(finish: Callable[[LostTrack | None], None]) -> None:
    """End here: the script's own clean-up would only find tensors without numbers."""
    finish(None)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _give_up_in_time(
    pretence: Pretence, following: Following, finish: Callable[[LostTrack | None], None], patience: int
) -> None:
    """A loop that ends when a number is small may never end where there are no numbers: say so instead of waiting."""
    if not hasattr(signal, "SIGALRM"):
        return
    last, since = (0, False, False), time.monotonic()

    def give_up(where: Location | None) -> None:
        finish(LostTrack(error=f"no optimizer step came within {patience} seconds", where=where, waited=True))
        os._exit(0)

    def look(_number: int, frame: FrameType | None) -> None:
        nonlocal last, since
        now = (following.steps, pretence.ledger.booked > 0, following.afterwards.begun)
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since >= patience and now[2]:
            at_the_next_line(frame, lambda: _leave(finish))
        elif time.monotonic() - since >= patience and now[1]:
            at_the_next_line(frame, functools.partial(give_up, user_location(frame)))
        signal.alarm(often)

    often = max(patience // _LOOKS, 1)
    signal.signal(signal.SIGALRM, look)
    signal.alarm(often)


def at_the_next_line(frame: FrameType | None, act: Callable[[], None]) -> None:
    """Call `act` when a line of the user's begins: a signal may come in the middle of an operation on the card."""

    def on_line(_frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
        if event == "line":
            sys.settrace(None)
            act()
        return on_line

    def on_call(frame: FrameType, _event: str, _argument: object) -> TraceFunction | None:
        return on_line if is_user_file(frame.f_code.co_filename) else None

    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            frame.f_trace = on_line
        frame = frame.f_back
    sys.settrace(on_call)


def _measure(folder: Path, began: float, overlay: Overlay | None) -> Callable[[LostTrack | None], None]:
    from torchmedic.checkups.memory.measuring import Measuring
    from torchmedic.checkups.memory.patches import Patches
    from torchmedic.checkups.memory.saved import lead_torch

    def finish(lost: LostTrack | None) -> None:
        _write(_with_held_back(measuring.plan(began, lost), overlay), folder)

    if overlay is not None:
        lead_torch(Patches(), overlay)
    measuring = Measuring(lambda: _leave(finish))
    measuring.begin()
    return finish


def pretend(
    request: Request,
    after_import: Callable[[str, Callable[[], None]], None],
    folder: Path,
    began: float,
    overlay: Overlay | None,
) -> Callable[[LostTrack | None], None]:
    """Begin the pretence in this process; returns what writes the plan at its end."""
    from torchmedic.checkups.memory.cards import card_named
    from torchmedic.checkups.memory.cures import cure_named
    from torchmedic.checkups.memory.following import Following
    from torchmedic.checkups.memory.frameworks import Flags, adapt_frameworks
    from torchmedic.checkups.memory.matrices import Matrices
    from torchmedic.checkups.memory.pretending import Pretence
    from torchmedic.checkups.memory.saved import adapt_safetensors
    from torchmedic.checkups.memory.summing import make_plan

    pretence = Pretence(card_named(request.card), request.device, expandable=request.expandable, overlay=overlay)

    def finish(lost: LostTrack | None) -> None:
        after = following.afterwards
        # What fails behind the steps cost them nothing: evaluations without numbers may.
        plan = make_plan(pretence, following.steps, began, f"fake-{request.device}", None if after.begun else lost)
        plan = replace(
            plan,
            loader_batch=loaders.batch,
            loader_samples=loaders.samples,
            flags=flags.values,
            hoarded=following.hoarded(),
            unreached=after.unreached(lost if after.begun else None, evaluated="evaluation" in plan.phase_peaks),
            names_card=pretence.world.is_named,
            remedied=Remedied(changed=cure.changed, already=cure.already),
            matrices=matrices.spared(expandable=request.expandable) if matrices is not None else None,
        )
        plan = _with_held_back(plan, overlay)
        following.end()
        pretence.end()
        _write(plan if request.device == "cpu" else _if_trusted(plan), folder)

    pretence.world.read_as = request.read_as
    matrices = Matrices(pretence.ledger, pretence.card) if request.remedy == "sdpa" else None
    pretence.world.matrices = matrices
    cure = cure_named(request.remedy, request.device)
    following = Following(pretence, lambda: _leave(finish), cure, looking=request.looking)
    loaders, flags = _loaders(request, following.afterwards), Flags()
    adapt_frameworks(loaders, flags, after_import)
    after_import("safetensors.torch", adapt_safetensors)
    pretence.begin()
    following.begin()
    _give_up_in_time(pretence, following, finish, request.patience)
    return finish


def _loaders(request: Request, afterwards: Afterwards) -> Loaders:
    from torchmedic.checkups.memory.frameworks import Loaders

    return Loaders(request.loader_batch, instead_of=request.loader_now, plenty=request.plenty, afterwards=afterwards)


def follow_model(folder: Path, train: Callable[[], None], card: str, device: str) -> None:
    """Run a training function on a pretended card and leave its plan in the folder; torch is there already."""
    from torchmedic.checkups.memory.cards import card_named
    from torchmedic.checkups.memory.following import Following
    from torchmedic.checkups.memory.pretending import Pretence
    from torchmedic.checkups.memory.summing import make_plan

    began = time.monotonic()
    pretence = Pretence(card_named(card), device)
    following = Following(pretence, lambda: None)
    pretence.begin()
    following.begin()
    lost = None
    try:
        train()
    except Exception as error:  # noqa: BLE001 - whatever the model raises is the answer
        lost = lost_to(error)
    _write(make_plan(pretence, following.steps, began, f"fake-{device}", lost), folder)


def _if_trusted(plan: MemoryPlan) -> MemoryPlan:
    """The plan, void if the pretence gets a known model wrong on this torch."""
    from torchmedic.checkups.memory.selftest import SelfTestError, check_pretence

    try:
        check_pretence()
    except SelfTestError as error:
        refused = LostTrack(error=f"the pretended card failed its self-test on this torch ({error})", where=None)
        return replace(plan, steps=0, lost=refused)
    return plan


_left_at: list[Location | None] = []


def _note_exits() -> None:
    """Remember the user's line that leaves by `sys.exit`, its own or that of a parser of options."""
    leave = sys.exit

    def noted(*args: Any) -> NoReturn:
        _left_at[:] = [user_location()]
        leave(*args)

    sys.exit = noted


def _with_held_back(plan: MemoryPlan, overlay: Overlay | None) -> MemoryPlan:
    if _left_at:
        plan = replace(plan, left_at=_left_at[0])
    if overlay is None:
        return plan
    return replace(plan, not_written=overlay.not_written(), not_deleted=overlay.not_deleted())


def _write(plan: MemoryPlan, folder: Path) -> None:
    temporary = folder / f"{PLAN_FILE}.part"
    temporary.write_text(json.dumps(to_plain(plan)))
    temporary.replace(folder / PLAN_FILE)


def _lost() -> LostTrack | None:
    """The exception that ended the script, if one did."""
    error = getattr(sys, "last_value", None)
    return lost_to(error) if isinstance(error, BaseException) else None


def lost_to(error: BaseException) -> LostTrack:
    trace, where, in_pretence = error.__traceback__, None, False
    while trace is not None:
        code = trace.tb_frame.f_code
        if is_user_file(code.co_filename):
            where = location(code.co_filename, trace.tb_lineno, code.co_qualname)
        in_pretence = in_pretence or (code.co_name == "__torch_dispatch__" and is_own_file(code.co_filename))
        trace = trace.tb_next
    lines = str(error).strip().splitlines() or [""]
    # A process that was started hands on what it died of below a heading.
    said = f"{lines[0]} {lines[-1].strip()}" if lines[0].endswith(":") and len(lines) > 1 else lines[0]
    is_of_fakes = type(error).__module__.startswith("torch._subclasses")  # a card says it plainly
    name = "RuntimeError" if is_of_fakes else type(error).__name__
    return LostTrack(error=f"{name}: {said}"[:300], where=where, in_pretence=in_pretence)
