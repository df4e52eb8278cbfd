"""On a machine with a CUDA card: do the rules say there what they say on the host?

    python bench/on_card.py [--only NUM,WIR] [--jobs 8]

Every rule's sick script of tests/rules runs once more with the card as torch's default device. Scripts that ask for
the host by name, or feed a loader that shuffles (torch then wants its generator on the card), die and are counted
apart: "not told" is what matters.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.catalogue import expectations, scripts

PRELUDE = "import torch; torch.set_default_device('cuda')\n"
_SECONDS = 120


def ask(script: Path) -> tuple[str, str]:
    """How the script on the card was judged, in one word, and what was said of it."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(shutil.copytree(script.parent, Path(scratch) / script.parent.name))
        copy = folder / script.name
        text = copy.read_text()
        future = "from __future__ import annotations\n"
        copy.write_text(future + PRELUDE + text.replace(future, "") if future in text else PRELUDE + text)
        command = [sys.executable, "-m", "torchmedic", "run", "-q", "--json", "out.json", script.name]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            return "endless", ""
        if not (folder / "out.json").exists():
            return "no answer", done.stderr[-300:]
        said = json.loads((folder / "out.json").read_text())["diagnoses"]
        return judge(copy, said, done.stderr)


def judge(script: Path, said: list[dict[str, Any]], stderr: str) -> tuple[str, str]:
    wanted = set(expectations(script))
    loud = [d for d in said if d["severity"] != "hint"] or said
    told = [_told(d) for d in loud]
    switched_off = re.findall(r"torchmedic: probe .*", stderr)
    if switched_off:
        return "switched off", switched_off[0]
    if told and told[0] in wanted:
        return "same", ""
    if set(told) & wanted:
        return "not first", str(told)
    text = f"{sorted(wanted)} but {told}"
    if "Traceback" in stderr and not any(code.startswith(("ERR", "ENV")) for code, _, _ in wanted):
        return "died", f"{text} {stderr.strip().splitlines()[-1]}"
    return "not told", text


def _told(diagnosis: dict[str, Any]) -> tuple[str, str, int]:
    where = diagnosis["where"] or {}
    return diagnosis["code"], os.path.basename(where.get("file", "")), where.get("line", 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="families, or names of rules")
    parser.add_argument("--jobs", type=int, default=8)
    options = parser.parse_args()
    chosen = tuple(filter(None, options.only.split(",")))
    chosen_ones = [s for s in scripts("bad") if _is_chosen(s, chosen)]
    counts: Counter[str] = Counter()
    with ThreadPoolExecutor(options.jobs) as pool:
        for script, (word, text) in zip(chosen_ones, pool.map(ask, chosen_ones), strict=True):
            counts[word] += 1
            if word != "same":
                print(f"{word:12s} {script.parent.name}/{script.name} {text[:400]}", flush=True)
    print(dict(counts))


def _is_chosen(script: Path, chosen: tuple[str, ...]) -> bool:
    codes = [code for code, _, _ in expectations(script)]
    return not chosen or script.parent.name in chosen or any(code.startswith(chosen) for code in codes)


if __name__ == "__main__":
    main()
