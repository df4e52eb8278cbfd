"""Is the network open, closed, or behind a login page? One plain request, seconds at most, no credentials."""

from __future__ import annotations

import http.client
import re
import socket
import threading
import urllib.parse
import urllib.request
from urllib.error import HTTPError, URLError

from torchmedic.facts import Network

# Answers plain HTTP by sending the client to HTTPS on the same host; a gateway that wants a login answers itself.
ASKED = "pypi.org"
SECONDS = 3.0


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Redirects are the evidence, so they are not followed."""

    def redirect_request(self, *_: object) -> None:
        return None


def look_outside(wanted_host: str = "", seconds: float = SECONDS) -> Network:
    """What a request to a well-known host meets, through the proxy that the script would use too."""
    proxy = proxy_host()
    state, answered_by = _ask(seconds, has_proxy=bool(proxy))
    return Network(
        state=state,
        asked=ASKED,
        wanted_host=wanted_host,
        wanted_host_resolves=_resolves(wanted_host, seconds) if wanted_host and not proxy else None,
        proxy=proxy,
        answered_by=answered_by,
    )


def proxy_host() -> str:
    """Host and port of the configured proxy, without its login."""
    proxies = urllib.request.getproxies()
    address = proxies.get("https") or proxies.get("http") or ""
    parts = urllib.parse.urlsplit(address if "//" in address else f"//{address}")
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.hostname}{port}" if parts.hostname else ""


def _ask(seconds: float, has_proxy: bool) -> tuple[str, str]:
    if not has_proxy and not _resolves(ASKED, seconds):
        return "no-names", ""
    opener = urllib.request.build_opener(_StayHere)
    try:
        with opener.open(f"http://{ASKED}/", timeout=seconds) as answer:
            return "login-page", _title(answer.read(4096))
    except HTTPError as error:
        with error:
            return _judge(error)
    except TimeoutError:
        return "timeout", ""
    except (URLError, OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        return ("timeout" if isinstance(reason, TimeoutError) else "refused"), ""


def _judge(answer: HTTPError) -> tuple[str, str]:
    """The right host sends us to itself; another host, or 511, is a gateway."""
    target = urllib.parse.urlsplit(answer.headers.get("Location") or "").hostname or ""
    if answer.code == 511 or (target and target != ASKED and not target.endswith("." + ASKED)):
        return "login-page", target
    return ("refused", "") if answer.code in (407, 502, 503, 504) else ("open", "")


def _title(page: bytes) -> str:
    match = re.search(rb"(?is)<title[^>]*>(.*?)</title>", page)
    return " ".join(match.group(1).decode(errors="replace").split())[:80] if match else ""


def _resolves(host: str, seconds: float) -> bool:
    """Whether a name resolves, given up after some seconds: the resolver itself takes no time-out."""
    found: list[bool] = []

    def ask() -> None:
        try:
            socket.getaddrinfo(host, 443)
            found.append(True)
        except (OSError, UnicodeError):
            found.append(False)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(seconds)
    return bool(found) and found[0]
