"""Which crashes are about reaching another machine."""

from __future__ import annotations

import re

from torchmedic.facts import Crash, Run
from torchmedic.rules.environment._crashes import links

_SIGNS = re.compile(
    r"(?i)name resolution|getaddrinfo failed|name or service not known|nodename nor servname|max retries exceeded|"
    r"network is unreachable|no route to host|urlopen error|tunnel connection failed|couldn'?t connect to|"
    r"connection (?:to \S+ )?timed out|certificate verify failed|failed to establish a new connection"
)
_TYPES = {
    "URLError", "ConnectTimeout", "ConnectError", "ProxyError", "SSLError", "gaierror", "LocalEntryNotFoundError",
    "SSLCertVerificationError", "MaxRetryError",
}  # fmt: skip
_HOST = re.compile(r"host='([\w.\-]+)'|https?://(?:[^/\s@]*@)?([\w.\-]+)|connect to '?(?:https?://)?([\w.\-]+\.\w+)")


def network_crash(run: Run) -> Crash | None:
    """The exception that says so: the one nearest to the network."""
    found = None
    for crash in links(run):
        if crash.type_name in _TYPES or _SIGNS.search(crash.message):
            found = crash
    return found


def host_of(run: Run) -> str:
    """The host that the crash names, in its message or in a variable of the user's frames."""
    for crash in links(run):
        texts = [crash.message]
        texts += [value.text for frame in reversed(crash.frames) for value in frame.values if "://" in value.text]
        texts += [frame.location.source for frame in reversed(crash.frames) if frame.is_user]
        for text in texts:
            match = _HOST.search(text)
            if match is not None:
                return next(group for group in match.groups() if group)
    return ""
