"""The live page against those who should not read it, those who ask for too much, and files that are broken."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote, urlsplit

import psutil
import pytest

from tests.cli.typed import typed
from tests.live.serving import PATIENCE, Served, serving
from tests.report.runs import a_healthy_run, a_run_file, a_sick_run, training
from torchmedic.live.runs import LiveRun, Runs, snapshot
from torchmedic.store import RUN_FILE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory with a healthy, a sick, a corrupt and an empty run."""
    base = tmp_path_factory.mktemp("work")
    for name, make in (("1-healthy", a_healthy_run), ("2-sick", a_sick_run)):
        run = base / ".torchmedic" / name
        run.mkdir(parents=True)
        make(run)
    for name, content in (("3-corrupt", b"SQLite format 3\0" + bytes(range(256)) * 64), ("4-empty", b"")):
        (base / ".torchmedic" / name).mkdir()
        (base / ".torchmedic" / name / RUN_FILE).write_bytes(content)
    (base / "secret.txt").write_text("not for you")
    return base


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    with serving(folder) as found:
        yield found
        assert found.process.poll() is None, "the server went down"


def contents(folder: Path) -> dict[str, str]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "live.json"]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_it_says_its_address_and_how_to_reach_it_from_afar(served: Served) -> None:
    port = urlsplit(served.url).port
    assert f"ssh -L {port}:127.0.0.1:{port} " in served.said[1]
    assert len(served.token) >= 32


def test_it_listens_on_this_machine_only(served: Served) -> None:
    heard = [c.laddr.ip for c in psutil.Process(served.process.pid).net_connections() if c.status == "LISTEN"]
    assert heard == ["127.0.0.1"]


def test_the_list_and_each_run(served: Served) -> None:
    _, text, _ = served.ask("runs")
    runs = {run["id"]: run["state"] for run in json.loads(text)}
    assert runs == {
        "4-empty": "unreadable",
        "3-corrupt": "unreadable",
        "2-sick": "stopped",
        "1-healthy": "ended",
    }
    sick = json.loads(served.ask("run/2-sick")[1])
    assert "NUM002" in sick["verdict"]["en"]
    assert "已排除" in sick["verdict"]["zh"]
    assert sick["charts"][0]["id"] == "chart-loss"
    assert json.loads(served.ask("run/1-healthy")[1])["heatMaps"]


@pytest.mark.parametrize("name", ["3-corrupt", "4-empty"])
def test_a_broken_run_file_is_said_to_be_so(served: Served, name: str) -> None:
    status, text, _ = served.ask(f"run/{name}")
    assert status == 200
    error = json.loads(text)["error"]
    assert "not a readable run file" in error["en"]
    assert "not a readable" not in error["zh"]


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        ("/", True),
        ("/wrong/", True),
        ("/wrong/runs", True),
        ("/%00/runs", True),
        ("run/" + quote("../../secret.txt", safe=""), False),
        ("run/..%2f..%2fsecret.txt", False),
        ("run/%2e%2e", False),
        ("run/nothing", False),
        ("script/..%2fpage.html", False),
        ("script/page.html", False),
        ("../secret.txt", False),
        ("run/1-healthy/../../../secret.txt", False),
    ],
)
def test_what_nobody_may_read_is_not_found(served: Served, path: str, raw: bool) -> None:
    status, text, _ = served.ask(path, raw=raw)
    assert status == 404
    assert "not for you" not in text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_there_is_nothing_to_write(served: Served, method: str) -> None:
    assert served.ask("runs", method=method)[0] == 405


def test_a_name_that_is_pointed_at_this_machine_is_refused(served: Served) -> None:
    assert served.ask("runs", headers={"Host": "evil.example:80"})[0] == 421


def test_answers_tell_the_browser_to_keep_to_itself(served: Served) -> None:
    headers = served.ask("")[2]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


def test_a_huge_query_is_refused_or_ignored(served: Served) -> None:
    try:
        status = served.ask("runs?" + "x" * 2_000_000)[0]
    except OSError:
        status = 400
    assert status == 200 or 400 <= status < 500
    assert served.ask("runs")[0] == 200


def test_two_hundred_listeners_are_all_told(served: Served) -> None:
    port = urlsplit(served.url).port
    request = f"GET /{served.token}/events/1-healthy HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    with ExitStack() as stack:
        listeners = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)) for _ in range(200)
        ]
        for listener in listeners:
            listener.sendall(request)
        told = [_until(listener, b"event: changed") for listener in listeners]
        assert all(told)
        assert served.ask("run/2-sick")[0] == 200, "others are still answered"


def _until(listener: socket.socket, words: bytes) -> bool:
    heard = b""
    while words not in heard:
        part = listener.recv(4096)
        if not part:
            return False
        heard += part
    return True


def test_reading_changes_no_file(served: Served, folder: Path) -> None:
    before = contents(folder)
    for name in ("1-healthy", "2-sick", "3-corrupt"):
        served.ask(f"run/{name}")
    assert contents(folder) == before


def test_the_token_is_kept_for_its_owner_only(served: Served, folder: Path) -> None:
    mode = (folder / ".torchmedic" / "live.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_a_long_run_is_thinned_before_it_is_sent(tmp_path: Path) -> None:
    a_run_file(tmp_path, points=training(30_000, layers=50, every=100), steps=30_000)
    read = json.loads(snapshot(LiveRun(tmp_path)))
    assert len(read["charts"][0]["lines"][0]["x"]) <= 600
    assert len(read["heatMaps"][0]["steps"]) <= 121
    assert len(read["heatMaps"][0]["layers"]) == 50
    assert read["steps"] == 30_000


def test_a_run_that_is_dear_to_read_is_read_less_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("torchmedic.live.runs.time.monotonic", lambda: now)
    run = LiveRun(a_run_file(tmp_path, points=training(20)))
    snapshot(run)
    assert 0 < run.reading_took < 60
    run.reading_took, before = 0.1, run.version
    os.utime(tmp_path / RUN_FILE, (1, 1))
    now += 9.0
    assert run.current_version() == before, "it rests a hundred times as long as the reading took"
    now += 2.0
    assert run.current_version() != before


def test_the_list_opens_no_file_that_has_not_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    run.mkdir()
    a_run_file(run, points=training(20), exit_code=0)
    runs = Runs(tmp_path)
    first = runs.listed()
    monkeypatch.setattr("torchmedic.live.runs.load_info", lambda path: pytest.fail("read again"))
    assert runs.listed() == first


def test_several_ranks_are_one_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    for place, points in ((run, []), (run / "rank0", training(20)), (run / "rank1", training(30))):
        place.mkdir()
        a_run_file(place, points=points, rank=int(place.name == "rank1"))
    read = json.loads(snapshot(Runs(tmp_path).found()["run"]))
    assert read["ranks"] == 2
    assert read["said"]["en"]["chart-loss"]["lines"] == ["rank 0", "rank 1"]
    assert len(read["charts"][0]["lines"]) == 2
    assert read["steps"] == 30


@pytest.mark.parametrize("words", [("no-such-run",), (".",)])
def test_a_folder_without_runs_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = typed("live", *words)
    assert answer.status == 2
    assert answer.err.count("\n") == 1


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "torchmedic.live.server", raising=False)
    answer = typed("live")
    assert answer.status == 2
    assert "pip install 'torchmedic[live]'" in answer.err
