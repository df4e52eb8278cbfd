"""Inside the watched process: arm before the script starts, write down how it ended."""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import functools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torchmedic import settings as options
from torchmedic.facts import AbruptExit, Interrupted
from torchmedic.launch.imports import after_import
from torchmedic.launch.starters import Starters, move_forked_ranks, remember_ends, wake_as_rank
from torchmedic.probes.course.start_times import StartTimes
from torchmedic.probes.crash.child_crashes import note_ends
from torchmedic.probes.crash.clues import Clues
from torchmedic.probes.crash.environment import Surroundings
from torchmedic.probes.crash.exceptions import crash_of
from torchmedic.probes.events.patching import frame_hidden
from torchmedic.probes.ranks.launched import Launched
from torchmedic.probes.source.expressions import behind_wrappers
from torchmedic.probes.source.frames import is_user_file, location_of, shown_path
from torchmedic.probes.stuck.stacks import answer_signal
from torchmedic.probes.stuck.standing_still import Stuck
from torchmedic.probes.stuck.threads import Threads
from torchmedic.probes.stuck.whereabouts import Whereabouts
from torchmedic.record import Recorder, name_script_again, say
from torchmedic.store import Writer, update_info

FAULT_LOG = "fault.log"
_PR_SET_PDEATHSIG = 1


def arm() -> Callable[[], None]:
    """Prepare this process for watching. Called by `sitecustomize`, before the script's first line.

    Returns what has to run at the end; it is also registered to run at exit.
    """
    settings = options.from_environment()
    if settings is None:
        return lambda: None
    folder = Path(settings.run_folder)
    if settings.purpose == "memory":
        from torchmedic.checkups.memory.session import start as start_memory

        _die_with_parent()
        start_memory(folder, after_import)
        return lambda: None
    if settings.purpose == "worker":
        answer_signal(folder)
        return lambda: None
    if settings.purpose == "server":
        note_ends(folder)
        return lambda: None
    if settings.dormant:
        remember_ends()
        note_ends(folder)
        after_import("torch", lambda: wake_as_rank(settings, _arm))
        return lambda: None
    return _arm(settings)


def _arm(settings: options.Settings) -> Callable[[], None]:
    folder = Path(settings.run_folder)
    recorder = Recorder(settings, Writer(folder / settings.run_file))
    _die_with_parent()
    _keep_native_stacks(folder)
    finish = functools.partial(_finish, recorder)
    atexit.register(finish)
    _record_abrupt_exit(recorder)
    _record_exit(recorder)
    if settings.purpose == "retrace":
        recorder.add(Starters())
        if not settings.launcher:
            _retrace(recorder)
        return finish
    if settings.purpose == "reading":
        _note_readings(recorder)
        return finish
    if settings.purpose in (
        "wake",
        "versions",
        "amplification",
        "averaging",
        "exponentials",
        "locals",
        "casts",
        "narrow",
        "stores",
    ):
        after_import("torch", lambda: _look_at_one_step(recorder))
        return finish
    recorder.add(Starters())
    recorder.add(Launched())
    if settings.launcher:
        return finish
    for probe in (Clues(), Surroundings(), StartTimes(), Threads(), Whereabouts(), Stuck()):
        recorder.add(probe)
    after_import("torch", lambda: _watch_torch(recorder, finish))
    after_import("pandas", lambda: _watch_pandas(recorder))
    after_import("sklearn.preprocessing", lambda: _watch_encoders(recorder))
    after_import("argparse", lambda: _watch_options(recorder))
    return finish


def _die_with_parent() -> None:
    """A kill of `torchmedic` is a kill of the script: no training is left behind on the card."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _keep_native_stacks(folder: Path) -> None:
    """Let a segmentation fault leave its stack in the run folder, unless the user has asked for it on the screen."""
    if not faulthandler.is_enabled():
        # Kept open to the very end: a fault in the interpreter's own tear-down counts too.
        faulthandler.enable((folder / FAULT_LOG).open("w"))


def _watch_torch(recorder: Recorder, finish: Callable[[], None]) -> None:
    try:
        from torchmedic.probes.course.trackers import when_used
        from torchmedic.probes.events.warned import place_warnings_at_callers
        from torchmedic.watching import install_probes

        place_warnings_at_callers()
        install_probes(recorder)
        when_used(functools.partial(_finish_first, finish), functools.partial(_tell_tracker, recorder))
    except Exception as error:  # noqa: BLE001
        say(f"could not watch torch ({type(error).__name__}: {error})")


def _finish_first(finish: Callable[[], None]) -> None:
    """End before the trackers do: exit handlers run last in, first out, and theirs are registered by now."""
    atexit.unregister(finish)
    atexit.register(finish)


def _tell_tracker(recorder: Recorder, tracker: str, handle: object) -> None:
    """The script closes its tracker while it still runs: what is known by now goes into it."""
    from torchmedic.integrations.trackers import write_findings

    recorder.flush()
    write_findings(recorder.folder, {tracker: handle})


def _retrace(recorder: Recorder) -> None:
    """Look at lines instead of steps; torch is only asked for the step clock."""
    from torchmedic.probes.data.groupings import Groupings
    from torchmedic.probes.data.readings import Readings
    from torchmedic.replay.preparation import Preparation

    def keep_clock() -> None:
        from torchmedic.watching import install_clock

        install_clock(recorder)
        move_forked_ranks(recorder)

    after_import("torch", keep_clock)
    for probe in (Readings(), Groupings(), Preparation()):
        recorder.add(probe)


def _note_readings(recorder: Recorder) -> None:
    """See which files are read and how they are grouped, until the training begins."""
    from torchmedic.probes.data.groupings import Groupings
    from torchmedic.probes.data.readings import Readings

    def keep_clock() -> None:
        from torchmedic.watching import install_clock

        install_clock(recorder)

    after_import("torch", keep_clock)
    recorder.add(Readings())
    recorder.add(Groupings())


def _look_at_one_step(recorder: Recorder) -> None:
    from torchmedic import watching

    kinds = {
        "wake": watching.install_wake,
        "versions": watching.install_versions,
        "amplification": watching.install_amplification,
        "exponentials": watching.install_exponentials,
        "averaging": watching.install_averaging,
        "locals": watching.install_locals,
        "casts": watching.install_casts,
        "narrow": watching.install_narrow,
        "stores": watching.install_stores,
    }
    kinds[recorder.settings.purpose](recorder)


def _watch_pandas(recorder: Recorder) -> None:
    from torchmedic.probes.data.encodings import TableNumberings
    from torchmedic.probes.data.lost_numbers import LostNumbers
    from torchmedic.probes.data.missing_codes import MissingCodes
    from torchmedic.probes.data.table_arrays import TableArrays
    from torchmedic.probes.data.tables import Tables

    for probe in (Tables(), MissingCodes(), LostNumbers(), TableNumberings(), TableArrays()):
        recorder.add(probe)


def _watch_options(recorder: Recorder) -> None:
    from torchmedic.probes.crash.options import Options

    recorder.add(Options())


def _watch_encoders(recorder: Recorder) -> None:
    from torchmedic.probes.data.encodings import EncoderNumberings

    recorder.add(EncoderNumberings())


def _record_abrupt_exit(recorder: Recorder) -> None:
    """Let facts reach the file before `os._exit`, which skips every handler."""
    leave = os._exit

    def leave_after_flush(status: int) -> None:
        frame = sys._getframe(1)
        if status and recorder.is_ours and is_user_file(frame.f_code.co_filename):
            recorder.observe(AbruptExit(status=status, where=location_of(frame), step=recorder.step))
        if recorder.is_ours and recorder.was_forked:
            _finish(recorder)  # a rank forked by `multiprocessing` leaves this way, past every other handler
        elif recorder.is_ours:
            recorder.flush()
        leave(status)

    os._exit = leave_after_flush  # type: ignore[assignment]


def _record_exit(recorder: Recorder) -> None:
    """Remember the line that leaves with a status: the exception of `sys.exit` is gone when the process ends."""
    leave = sys.exit

    @functools.wraps(leave)
    def leave_noted(*status: Any) -> Any:
        frame = sys._getframe(1)
        failed = status[0] if len(status) == 1 else None
        if failed and recorder.is_ours and is_user_file(frame.f_code.co_filename):
            number = failed if isinstance(failed, int) else 1  # words are printed, and the status is 1
            recorder.observe(AbruptExit(status=number, where=location_of(frame), step=recorder.step))
        with frame_hidden:
            leave(*status)

    sys.exit = leave_noted


def _finish(recorder: Recorder) -> None:
    """Write the last facts. Runs after the script's own exit handlers, whatever excepthook it installed."""
    if not recorder.is_ours:
        return
    _silence_worker_alarm()
    _lift_file_limit()
    name_script_again()
    try:
        error = getattr(sys, "last_value", None)
        if isinstance(error, Exception):
            recorder.observe(crash_of(error, step=recorder.step or None))
            recorder.crash(behind_wrappers(error))
        elif isinstance(error, KeyboardInterrupt):
            inner = crash_of(error).user_frame
            where = inner.location if inner is not None else None
            recorder.observe(Interrupted(at=time.time(), where=where, step=recorder.step))
        recorder.finish()
        torch = sys.modules.get("torch")
        update_info(
            recorder.folder / recorder.run_file,
            ended=time.time(),
            steps=recorder.step,
            stopped_by_us=bool(recorder.stopped_in),
            stopped_in=recorder.stopped_in,
            skipped=recorder.skipped,
            folder=shown_path(str(recorder.folder)),
            torch=str(getattr(torch, "__version__", "")),
        )
        _tell_trackers(recorder)
    except Exception as failure:  # noqa: BLE001
        say(f"could not write the end of the run ({type(failure).__name__}: {failure})")
    finally:
        _stay_interrupted()


def _tell_trackers(recorder: Recorder) -> None:
    """Only where the script used one: judging the run here costs half a second."""
    used = getattr(sys.modules.get("torchmedic.probes.course.trackers"), "in_use", None)
    if used:
        from torchmedic.integrations.trackers import write_findings

        write_findings(recorder.folder, used)


def _silence_worker_alarm() -> None:
    """torch's handler for ended children raises wherever it finds us once a DataLoader worker has died."""
    if hasattr(signal, "SIGCHLD") and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _lift_file_limit() -> None:
    """A script that died of too many open files has left none for its report."""
    try:
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    except (ImportError, ValueError, OSError):
        return


def _stay_interrupted() -> None:
    """Let a Ctrl-C end the process as Python does, by the signal.

    The interpreter remembers an interrupt that nobody caught, and every `exec` of a text (a dataclass is made by
    one) makes it forget. One that is interrupted reminds it.
    """
    if isinstance(getattr(sys, "last_value", None), KeyboardInterrupt):
        with contextlib.suppress(KeyboardInterrupt):
            exec("raise KeyboardInterrupt")
