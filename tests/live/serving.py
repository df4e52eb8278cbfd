"""Starts the live page as a user would, in a process of its own."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

PATIENCE = 60.0


@dataclass(frozen=True)
class Served:
    """A server that answers."""

    url: str
    process: subprocess.Popen[str]
    said: list[str]

    @property
    def token(self) -> str:
        return urlsplit(self.url).path.strip("/")

    def ask(
        self, path: str = "", *, method: str = "GET", headers: dict[str, str] | None = None, raw: bool = False
    ) -> tuple[int, str, dict[str, str]]:
        """Status, text and headers of an answer; a raw path stands alone, without the token."""
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(self.url).port, timeout=PATIENCE)
        try:
            connection.request(method, path if raw else f"/{self.token}/{path}", headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace"), dict(answer.getheaders())
        finally:
            connection.close()


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[Served]:
    """`torchmedic live words…` in a folder, until the block is left."""
    command = [sys.executable, "-m", "torchmedic", "live", *words]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = [process.stderr.readline() for _ in range(3)]
        found = re.search(r"http://\S+", said[0])
        assert found, said
        served = Served(found.group(), process, said)
        assert served.ask("runs")[0] == 200, "it answers as soon as it has told its address"
        yield served
    finally:
        process.terminate()
        process.wait(PATIENCE)
