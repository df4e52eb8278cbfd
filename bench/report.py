"""What drawing costs: the report of a long run, opening a very long one on the live page, following a run there.

The last is measured in one process: rounds of steps alternate between a page that follows the run and a halted one.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import resource
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from torchmedic.facts import RunInfo
from torchmedic.store import RUN_FILE, create

FOLLOWER = """
import http.client, sys
from urllib.parse import urlsplit
at, run = urlsplit(sys.argv[1]), sys.argv[2]
events = http.client.HTTPConnection(at.hostname, at.port)
events.request("GET", f"{at.path}events/{run}")
for line in events.getresponse():
    if line.startswith(b"data"):
        asking = http.client.HTTPConnection(at.hostname, at.port)
        asking.request("GET", f"{at.path}run/{run}")
        asking.getresponse().read()
        print(flush=True)
"""


def write_run(folder: Path, steps: int, layers: int, looks: int) -> Path:
    """A run file with a loss at every step and so many looks at each layer."""
    folder.mkdir(parents=True)
    create(folder / RUN_FILE, RunInfo(argv=("train.py",), started=time.time(), steps=steps, exit_code=0))
    every = max(1, steps // looks)
    with contextlib.closing(sqlite3.connect(folder / RUN_FILE)) as db, db:
        insert = "INSERT INTO series VALUES (?, ?, ?)"
        db.executemany(insert, (("loss", step, 2.0 / (1 + step % 977)) for step in range(1, steps + 1)))
        for kind in ("gradient", "weight"):
            for layer in range(layers):
                rows = (
                    (f"{kind}/layer{layer}.weight", step, 1.0 + step % 13) for step in range(every, steps + 1, every)
                )
                db.executemany(insert, rows)
    return folder


def bench_report(folder: Path) -> None:
    run = write_run(folder / "report", steps=100_000, layers=200, looks=1000)
    for options in ((), ("--light",)):
        out = folder / "report.html"
        command = [sys.executable, "-m", "torchmedic", "report", str(run), "--html", str(out), *options]
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        took, used = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        told = f"{took:.2f} s ({busy:.2f} s of processor time), peak {used.ru_maxrss / 1024:.0f} MiB"
        print(f"{' '.join(('report', *options)):15} 100,000 steps, 200 layers: {told}, {out.stat().st_size:,} bytes")


@contextlib.contextmanager
def live_page(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    command = [sys.executable, "-m", "torchmedic", "live"]
    server = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        found = re.search(r"http://\S+", server.stderr.readline())
        assert found is not None
        while True:
            with contextlib.suppress(OSError):
                ask(found.group(), "runs")
                break
            time.sleep(0.05)
        yield found.group(), psutil.Process(server.pid)
    finally:
        server.terminate()
        server.wait()


def ask(url: str, path: str) -> int:
    at = urlsplit(url)
    connection = http.client.HTTPConnection(at.hostname or "", at.port)
    connection.request("GET", f"{at.path}{path}")
    return len(connection.getresponse().read())


def bench_opening(folder: Path) -> None:
    write_run(folder / "opening" / ".torchmedic" / "long", steps=1_000_000, layers=200, looks=2000)
    with live_page(folder / "opening") as (url, _):
        started = time.perf_counter()
        sizes = [ask(url, path) for path in ("", "script/plotly.js", "script/charts.js", "runs", "run/long")]
        took = time.perf_counter() - started
    print(f"live page       1,000,000 steps, 200 layers: opened in {took:.2f} s, {sizes[-1]:,} bytes of numbers")


def bench_following(folder: Path, rounds: int = 12, seconds: float = 4.0) -> None:
    import torch

    import torchmedic

    torch.set_num_threads(1)
    torch.manual_seed(0)
    os.chdir(folder)
    model = torch.nn.Sequential(*(torch.nn.Linear(256, 256) for _ in range(8)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    x = torch.randn(256, 256)

    def step() -> None:
        loss = (model(x) - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def step_time() -> float:
        """Seconds of processor time: others may use the machine too, and must not count."""
        times, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end:
            began = time.thread_time()
            step()
            times.append(time.thread_time() - began)
        return statistics.median(times)

    medic = torchmedic.watch(quiet=True)
    assert medic.folder is not None
    with live_page(folder) as (url, server), (folder / "readings").open("wb") as readings:
        follower = subprocess.Popen([sys.executable, "-c", FOLLOWER, url, medic.folder.name], stdout=readings)
        step_time()
        ratios, busy, elapsed, before = [], 0.0, 0.0, (folder / "readings").stat().st_size
        for _ in range(rounds):
            follower.send_signal(signal.SIGSTOP)
            alone = step_time()
            follower.send_signal(signal.SIGCONT)
            began, used = time.perf_counter(), sum(server.cpu_times()[:2])
            ratios.append(step_time() / alone)
            busy += sum(server.cpu_times()[:2]) - used
            elapsed += time.perf_counter() - began
        follower.kill()
        follower.wait()
        read = (folder / "readings").stat().st_size - before
    medic.stop()
    print(f"live page       step time while it is followed: {statistics.median(ratios):.4f} of that while it is not")
    each = 1000 * busy / max(read, 1)
    print(f"{'':15} its server used {busy / elapsed:.2%} of one core, {each:.0f} ms for each of {read} readings")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        bench_report(Path(scratch))
        bench_opening(Path(scratch))
        bench_following(Path(scratch))


if __name__ == "__main__":
    main()
