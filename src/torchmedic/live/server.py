"""Starts the live page on loopback, at the address it had before where that is free."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from torchmedic.facts import Run
from torchmedic.live.app import application
from torchmedic.live.runs import Runs
from torchmedic.triage import examine

_LOOPBACK = "127.0.0.1"
_MEMORY = "live.json"
_POLITENESS = 10


@dataclass(frozen=True)
class Address:
    """Where the page is: nobody finds it without the token."""

    port: int
    token: str

    @property
    def url(self) -> str:
        return f"http://{_LOOPBACK}:{self.port}/{self.token}/"

    @property
    def tunnel(self) -> str:
        """What to type on another machine to see the page there."""
        return f"ssh -L {self.port}:{_LOOPBACK}:{self.port} {getpass.getuser()}@{socket.gethostname()}"


def open_socket(base: Path, port: int | None) -> tuple[socket.socket, Address]:
    """A listening socket and its address; a page that is open finds a restarted server again."""
    before = _remembered(base)
    wanted = port if port is not None else (before.port if before is not None else 0)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_LOOPBACK, wanted))
    except OSError:
        if port is not None:
            raise
        listener.bind((_LOOPBACK, 0))
    token = before.token if before is not None else secrets.token_urlsafe(24)
    address = Address(listener.getsockname()[1], token)
    _remember(base, address)
    return listener, address


class _Announced(uvicorn.Server):
    """Says that it answers when it does."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()


def serve(listener: socket.socket, address: Address, runs: Runs, plotly: str, announce: Callable[[], None]) -> None:
    """Answer until interrupted; a training on this machine comes first."""
    os.nice(_POLITENESS)
    config = uvicorn.Config(
        application(runs, address.token, plotly),
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        limit_concurrency=1000,
    )
    with contextlib.suppress(KeyboardInterrupt):
        examine(Run())  # the rules are loaded before anyone waits for them
        _Announced(config, announce).run(sockets=[listener])


def _remembered(base: Path) -> Address | None:
    try:
        return Address(**json.loads((base / _MEMORY).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _remember(base: Path, address: Address) -> None:
    """Kept for the owner's eyes only. Without a place for it the address is a new one next time."""
    with contextlib.suppress(OSError):
        path = base / _MEMORY
        path.touch(mode=0o600, exist_ok=True)
        os.chmod(path, 0o600)
        path.write_text(json.dumps({"port": address.port, "token": address.token}), encoding="utf-8")
