"""How much `torchmedic run` adds to the start of a script, beside what `import torch` costs by itself.

Bare and watched runs alternate in one session, so that a busy machine slows both; the medians are printed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPTS = {"empty": "", "imports": "import torch\n"}
MEDIC = [str(Path(sys.executable).parent / "torchmedic"), "run", "--quiet"]
LIMIT = 0.3
# An installed package has its byte code: let the first round write it.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def seconds(prefix: list[str], folder: Path, script: str) -> float:
    started = time.perf_counter()
    subprocess.run([*prefix, script], cwd=folder, check=True, env=ENVIRONMENT)
    return time.perf_counter() - started


def measure(repeats: int) -> dict[str, tuple[float, float]]:
    """For every script the median seconds bare and watched."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, text in SCRIPTS.items():
            (folder / f"{name}.py").write_text(text)
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in SCRIPTS}
        for round_ in range(repeats + 1):
            for name, pairs in found.items():
                pair = seconds([sys.executable], folder, f"{name}.py"), seconds(MEDIC, folder, f"{name}.py")
                if round_:  # the first round only warms the disk cache
                    pairs.append(pair)
    return {name: tuple(map(statistics.median, zip(*pairs, strict=True))) for name, pairs in found.items()}  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    found = measure(parser.parse_args().repeats)
    print(f"{'script':8} {'bare s':>8} {'watched s':>10} {'added s':>8} {'ratio':>7}")
    for name, (bare, watched) in found.items():
        print(f"{name:8} {bare:8.2f} {watched:10.2f} {watched - bare:8.2f} {watched / bare:6.2f}x")
    bare, watched = found["imports"]
    print(f"limit {LIMIT} s beyond torch's own import: {'kept' if watched - bare <= LIMIT else 'MISSED'}")


if __name__ == "__main__":
    main()
