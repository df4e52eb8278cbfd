"""Looks at packages, cards and the network when a crash, or the end of a run, makes them worth a look."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from torchmedic.facts import Observation
from torchmedic.record import Probe

_ABOUT_PACKAGES = re.compile(
    r"(?i)undefined symbol|symbol not found|shared object|DLL load failed|numpy|CUDA|NVIDIA|driver|shared memory|"
    r"\bshm\b|</torch_|no space left|operator \w+::\w+ does not exist|requires? (?:either )?'"
)
_ABOUT_NETWORK = re.compile(
    r"(?i)name resolution|getaddrinfo|name or service not known|nodename nor servname|max retries exceeded|"
    r"connection (?:refused|reset|timed out|error)|network is unreachable|no route to host|timed? ?out|"
    r"certificate verify failed|couldn'?t connect to|urlopen error|tunnel connection failed|offline mode|proxy"
)
_NETWORK_TYPES = {
    "URLError", "HTTPError", "ConnectionError", "ConnectTimeout", "ConnectError", "ReadTimeout", "ProxyError",
    "SSLError", "gaierror", "LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectionRefusedError", "TimeoutError",
    "MaxRetryError", "SSLCertVerificationError", "TimeoutException", "HfHubHTTPError",
}  # fmt: skip


class Surroundings(Probe):
    """Writes the facts that the environment rules need. Needs no torch: its import may be what failed."""

    name = "surroundings"

    def on_crash(self, error: BaseException) -> None:
        for seen in surroundings_of(error):
            self.recorder.observe(seen)

    def on_finish(self) -> None:
        if _worth_a_look():
            from torchmedic.checkups.environment.survey import survey

            self.recorder.observe(survey())


def surroundings_of(error: BaseException) -> Iterator[Observation]:
    """Facts about the environment that bear on an exception; none for most."""
    from torchmedic.checkups.environment.imports import failed_import, shadowed_modules
    from torchmedic.checkups.environment.pages import page_in_file

    links = list(_chain(error))
    shadows = [shadow for link in links for shadow in shadowed_modules(link)]
    if shadows:
        # With a library hidden, looking further would stumble over the same file.
        yield from shadows
        return
    for link in links:
        if isinstance(link, ImportError) and (failed := failed_import(link)) is not None:
            yield failed
    if any(isinstance(link, ImportError) or _ABOUT_PACKAGES.search(_text(link)) for link in links):
        from torchmedic.checkups.environment.survey import survey

        yield survey()
    page = page_in_file(error)
    if page is not None:
        yield page
    if page is not None or any(is_network_trouble(link) for link in links):
        from torchmedic.checkups.environment.network import look_outside

        yield look_outside(next((host for link in links if (host := host_in(_text(link)))), ""))


def is_network_trouble(error: BaseException) -> bool:
    """Whether an exception is about reaching another machine."""
    kind = type(error).__name__
    if isinstance(error, (ImportError, FileNotFoundError)) and kind not in _NETWORK_TYPES:
        return False
    return kind in _NETWORK_TYPES or (isinstance(error, OSError) and bool(_ABOUT_NETWORK.search(_text(error))))


def host_in(text: str) -> str:
    """The host that a message names.

    >>> host_in("HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded")
    'huggingface.co'
    """
    match = re.search(r"host='([\w.\-]+)'", text) or re.search(r"https?://(?:[^/\s@]*@)?([\w.\-]+)", text)
    return match.group(1) if match else ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and those behind it, each once."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _text(error: BaseException) -> str:
    try:
        return str(error)[:5000]
    except Exception:  # noqa: BLE001 - the user's own __str__ may fail
        return ""


def _worth_a_look() -> bool:
    """A CPU build beside a working driver, or OpenMP runtimes that do not go together."""
    torch = sys.modules.get("torch")
    build = getattr(torch, "version", None)
    cpu_only = build is not None and not getattr(build, "cuda", None) and not getattr(build, "hip", None)
    if cpu_only and Path("/proc/driver/nvidia/gpus").is_dir():
        return True
    from torchmedic.checkups.environment.survey import loaded_openmp

    return any(runtime.name.startswith("libiomp5") for runtime in loaded_openmp())
