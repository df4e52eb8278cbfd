"""Times every example at its default size: each script as it stands, and each row of `docs/founding-cases.md`.

    python bench/examples.py [--only lab_recommender,nan_hunt] [--plain]

One after the other, each in a fresh copy of its folder, with the seconds of the wall and of the processor (all
processes together). `make demo` is the row `torchmedic run train.py` of the recommender. The limit is 60 s on 2 cores.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.founding.table import PAGE, ROOT, rows

LIMIT = 60.0
FOLDERS = ("quickstart", "lab_recommender", "node_importance", "first_networks", "pharmacy", "nan_hunt")
# What the examples import from one another; they do nothing when they are run.
PARTS = ("model.py", "prepare.py", "graphs.py", "images.py")


def commands(folders: list[str], plain: bool) -> list[tuple[str, str]]:
    """Folder and command line: the scripts by themselves, then what the table of founding cases types."""
    files = [(folder, path.name) for folder in folders for path in sorted((ROOT / "examples" / folder).glob("*.py"))]
    scripts = [(folder, name) for folder, name in files if name not in PARTS]
    found = [(folder, f"python {name}") for folder, name in scripts]
    if not plain:
        typed = [(row.folder.name, row.command) for row in rows(PAGE.read_text(encoding="utf-8"))]
        found += [pair for pair in dict.fromkeys(typed) if pair[0] in folders]
    return found


def timed(folder: str, command: str) -> tuple[float, float, int]:
    """Wall seconds, processor seconds and exit status of a command in a copy of an example."""
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", NO_COLOR="1")
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch) / folder
        ignored = shutil.ignore_patterns("__pycache__", ".torchmedic", "data")
        shutil.copytree(ROOT / "examples" / folder, work, ignore=ignored)
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(["bash", "-c", command], cwd=work, env=environment, capture_output=True)
        wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(FOLDERS), help="folders of examples, with commas")
    parser.add_argument("--plain", action="store_true", help="only the scripts as they stand")
    options = parser.parse_args()
    print("| example | command | wall, s | processor, s | status |\n|---|---|---|---|---|")
    slow = 0
    for folder, command in commands(options.only.split(","), options.plain):
        wall, processor, status = timed(folder, command)
        slow += wall > LIMIT
        print(f"| {folder} | `{command}` | {wall:.1f} | {processor:.1f} | {status} |", flush=True)
    print(f"\n{slow} over {LIMIT:.0f} s")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
