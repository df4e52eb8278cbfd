"""What of the machine a check-up takes: cores, memory of the whole process, and nothing left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from torchmedic.checkups.data import limits
from torchmedic.checkups.data.engine import connected
from torchmedic.checkups.data.limits import amount, engine_limit, memory, room_for_hashes, threads
from torchmedic.checkups.data.options import DataError

CHECK = r"""
import json, re, sys
from torchmedic.checkups.data.check import check_paths
from torchmedic.checkups.data.options import Options
from torchmedic.facts import RepeatedRows

seen = check_paths((sys.argv[1],), Options(memory_limit="512MiB")).seen
repeats = next((fact.repeats for fact in seen if isinstance(fact, RepeatedRows)), 0)
# Not getrusage: it begins with the peak of the process that forked this one.
peak = re.search(r"VmHWM:\s+(\d+) kB", open("/proc/self/status").read())
print(json.dumps({"repeats": repeats, "peak": int(peak.group(1)) << 10}))
"""


def test_slurm_has_a_say_in_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_CPUS_PER_TASK", raising=False)
    free = threads()
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "1")
    assert (free >= 1, threads()) == (True, 1)
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "many")
    assert threads() == free


@pytest.mark.parametrize("text", ["", "many", "-1GiB", "1 furlong", "80%"])
def test_what_is_no_amount_of_memory_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="no amount of memory"):
        amount(text)


def test_engine_hashes_and_process_share_the_limit() -> None:
    for text in ("512MiB", "1GiB", "2GB", "8GiB"):
        limit = amount(text)
        assert engine_limit(limit) + room_for_hashes(limit) < limit
    assert memory() >= 256 << 20


def test_the_whole_process_stays_under_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    columns = "CAST(hash(i) % 4000 AS INTEGER) AS k, hash(i * 3) / 1e9 AS x, 'row ' || i AS note"
    drawn = f"SELECT {columns} FROM range(4000000) t(i)"
    duckdb.execute(f"COPY (({drawn}) UNION ALL (FROM ({drawn}) LIMIT 7)) TO '{path}'")
    answer = subprocess.run([sys.executable, "-c", CHECK, str(path)], capture_output=True, text=True, timeout=300)
    assert answer.returncode == 0, answer.stderr
    seen = json.loads(answer.stdout.splitlines()[-1])
    assert seen["repeats"] == 7
    assert seen["peak"] < 512 << 20
    assert [left.name for left in tmp_path.iterdir()] == ["events.parquet"]


def _grouped(folder: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> None:
    """A process in the control group a/b, with a file of limits in each of the groups."""
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "own").write_text("0::/a/b\n")
    for place, text in files.items():
        group, _, name = place.rpartition("_in_")
        (folder / name.replace("_", "/") / group.replace("_", ".")).write_text(text)
    monkeypatch.setattr(limits, "_GROUPS", folder)
    monkeypatch.setattr(limits, "_OWN_GROUP", folder / "own")
    for name in ("SLURM_CPUS_PER_TASK", "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU"):
        monkeypatch.delenv(name, raising=False)


def test_control_groups_have_a_say_in_threads_and_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(16)))
    _grouped(
        tmp_path,
        monkeypatch,
        cpu_max_in_a="300000 100000\n",
        cpu_max_in_a_b="max 100000\n",
        memory_max_in_a_b=f"{1 << 30}\n",
        memory_max_in_a="max\n",
    )
    assert (threads(), memory()) == (3, 512 << 20)


def test_slurm_has_a_say_in_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _grouped(tmp_path, monkeypatch)
    free = memory()
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "1024")
    assert memory() == 512 << 20
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "0")
    monkeypatch.setenv("SLURM_MEM_PER_CPU", "600")
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "2")
    assert memory() == min(free, 600 << 20)


def test_the_engine_takes_the_threads_it_is_allowed_and_spills_into_a_folder_of_its_own() -> None:
    with connected("1GiB") as connection:
        asked = "SELECT current_setting('threads'), current_setting('temp_directory')"
        cores, folder = connection.execute(asked).fetchone()
        assert cores == threads()
        assert Path(folder).is_dir()
    assert not Path(folder).exists()
