"""The live page's server: reads only, answers only those who know the token, and only on this machine."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from torchmedic.live.runs import LiveRun, Runs, snapshot
from torchmedic.render.html import asset, live_page

_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_LOOK_EVERY = 0.5  # seconds
_SCRIPTS = ("charts.js", "page.js", "live.js")


def application(runs: Runs, token: str, plotly: str) -> ASGIApp:
    """The server of these runs; `plotly` is the script that draws."""

    async def page(request: Request) -> Response:
        return Response(live_page(), media_type="text/html", headers=_HEADERS)

    async def script(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in (*_SCRIPTS, "plotly.js"):
            raise HTTPException(404)
        text = plotly if name == "plotly.js" else str(asset(name))
        return Response(text, media_type="text/javascript", headers=_HEADERS)

    async def listed(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(runs.listed), headers=_HEADERS)

    async def one(request: Request) -> Response:
        read = await run_in_threadpool(snapshot, await _asked_for(runs, request))
        return Response(read, media_type="application/json", headers=_HEADERS)

    async def events(request: Request) -> Response:
        return EventSourceResponse(_changes(await _asked_for(runs, request)), ping=15, headers=_HEADERS)

    routes = [
        Route("/", page),
        Route("/script/{name}", script),
        Route("/runs", listed),
        Route("/run/{run}", one),
        Route("/events/{run}", events),
    ]
    return Guarded(Starlette(routes=routes), token)


class Guarded:
    """Lets through what asks to read, by a name of this machine, below the token; says nothing about the rest.

    The name matters: a page of a stranger may point a name of its own at this machine and read what it answers.
    """

    def __init__(self, inner: ASGIApp, token: str) -> None:
        self._inner = inner
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
        elif scope["type"] == "http":
            refusal = self._refusal(scope)
            if refusal is not None:
                await refusal(scope, receive, send)
            else:
                path = "/" + scope["path"].lstrip("/").partition("/")[2]
                await self._inner({**scope, "path": path, "raw_path": path.encode()}, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("read only\n", 405, headers=_HEADERS)
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
        if host.rpartition(":")[0] not in _HOSTS and host not in _HOSTS:
            return PlainTextResponse("unknown host\n", 421, headers=_HEADERS)
        given = scope["path"].lstrip("/").partition("/")[0]
        if not secrets.compare_digest(given.encode(), self._token):
            return PlainTextResponse("not found\n", 404, headers=_HEADERS)
        return None


async def _asked_for(runs: Runs, request: Request) -> LiveRun:
    """A run by the name it has in the list: a path is never made of what was asked for."""
    found = await run_in_threadpool(runs.get, request.path_params["run"])
    if found is None:
        raise HTTPException(404)
    return found


async def _changes(run: LiveRun) -> AsyncIterator[ServerSentEvent]:
    """An event at once, and one whenever the run's files have changed."""
    last = ""
    while True:
        version = run.current_version()
        if version != last:
            last = version
            yield ServerSentEvent(event="changed", data=version)
        await asyncio.sleep(_LOOK_EVERY)
