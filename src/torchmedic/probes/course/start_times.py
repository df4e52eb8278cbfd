"""Where the time before the first step goes: imports, hosts that answer late or never, weights.

Known limits: modules that a package imports lazily later on are not counted for it; of a connection only the name
look-up and the connecting are timed, not the reading.
"""

from __future__ import annotations

import functools
import os
import socket
import sys
import time
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from torchmedic.facts import HostWait, Location, StartUp
from torchmedic.probes.events.patching import Patches, hide_frame
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder, shielded

# Not imported at run time: it costs as much as this whole probe.
if TYPE_CHECKING:
    import importlib.machinery

_LEAST_IMPORT = 0.05
_LEAST_WAIT = 0.2


class StartTimes(Probe):
    """Times the start of a script, writes one fact at the first step (or at the end), then takes itself out."""

    name = "start-times"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._began = time.perf_counter()
        self._patches = Patches()
        self._imports = ImportTimes()
        self._waits: dict[str, HostWait] = {}
        self._weights = 0.0
        self._written = False
        self._imports.on_import["torch"] = shielded(self)(self._watch_load)
        sys.meta_path.insert(0, self._imports)
        self._watch_sockets()
        if "torch" in sys.modules:
            self._watch_load()

    def remove(self) -> None:
        self._patches.restore()
        if self._imports in sys.meta_path:
            sys.meta_path.remove(self._imports)

    def on_step_done(self, optimizer: Any) -> None:
        if not self._written:
            self._write(reached_step=True)

    def on_finish(self) -> None:
        if not self._written:
            self._write(reached_step=False)

    def _write(self, reached_step: bool) -> None:
        self._written = True
        self.remove()
        imports = {name: round(seconds, 2) for name, seconds in self._imports.own.items() if seconds >= _LEAST_IMPORT}
        self.recorder.observe(
            StartUp(
                seconds=round(time.perf_counter() - self._began, 2),
                imports=dict(sorted(imports.items(), key=lambda item: -item[1])[:12]),
                waits=tuple(wait for wait in self._waits.values() if wait.seconds >= _LEAST_WAIT),
                weights=round(self._weights, 2),
                reached_step=reached_step,
                crowded=os.getloadavg()[0] > (os.cpu_count() or 1),
            )
        )

    def _watch_sockets(self) -> None:
        connect: Any = socket.socket.connect
        resolve: Any = socket.getaddrinfo
        names: dict[str, str] = {}
        note = shielded(self)(self._note_wait)

        @functools.wraps(connect)
        def timed_connect(this: socket.socket, address: Any) -> Any:
            began = time.perf_counter()
            failed = True
            try:
                answer = connect(this, address)
                failed = False
                return answer
            except BaseException as error:
                hide_frame(error)
                raise
            finally:
                if isinstance(address, tuple) and address:
                    host = str(address[0])
                    note(names.get(host, host), began, failed)

        @functools.wraps(resolve)
        def timed_resolve(host: Any, *args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            failed = True
            try:
                answer = resolve(host, *args, **kwargs)
                failed = False
                names.update({str(entry[4][0]): str(host) for entry in answer})
                return answer
            except BaseException as error:
                hide_frame(error)
                raise
            finally:
                note(str(host), began, failed, counts=failed)

        self._patches.replace(socket.socket, "connect", timed_connect)
        self._patches.replace(socket, "getaddrinfo", timed_resolve)

    def _note_wait(self, host: str, began: float, failed: bool, counts: bool = True) -> None:
        before = self._waits.get(host)
        seconds = time.perf_counter() - began
        place: Location | None = before.at if before is not None else user_location()
        self._waits[host] = HostWait(
            host=host,
            seconds=round((before.seconds if before else 0.0) + seconds, 3),
            attempts=(before.attempts if before else 0) + counts,
            failed=(before.failed if before else 0) + failed,
            at=place,
        )

    def _watch_load(self) -> None:
        torch = sys.modules["torch"]
        load = getattr(torch, "load", None)
        if load is None:
            return

        @functools.wraps(load)
        def timed_load(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return load(*args, **kwargs)
            except BaseException as error:
                hide_frame(error)
                raise
            finally:
                self._weights += time.perf_counter() - began

        self._patches.replace(torch, "load", timed_load)


class ImportTimes:
    """Times the execution of top-level packages, each without those it imports in turn."""

    def __init__(self) -> None:
        self.own: dict[str, float] = {}
        self.on_import: dict[str, Any] = {}
        self._inner: list[float] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if "." in fullname:
            return None
        for finder in sys.meta_path:
            if finder is not self:
                spec = finder.find_spec(fullname, path, target)
                if spec is not None:
                    self._time(spec)
                    return spec
        return None

    def _time(self, spec: importlib.machinery.ModuleSpec) -> None:
        loader = spec.loader
        # Built-in and frozen modules share one loader class and cost nothing.
        if loader is None or isinstance(loader, type):
            return
        execute = loader.exec_module

        def timed(module: ModuleType) -> None:
            began = time.perf_counter()
            self._inner.append(0.0)
            try:
                execute(module)
            except BaseException as error:
                hide_frame(error)
                raise
            finally:
                loader.__dict__.pop("exec_module", None)
                took = time.perf_counter() - began
                self.own[spec.name] = self.own.get(spec.name, 0.0) + took - self._inner.pop()
                if self._inner:
                    self._inner[-1] += took
            if callback := self.on_import.pop(spec.name, None):
                callback()

        loader.exec_module = timed  # type: ignore[method-assign]
