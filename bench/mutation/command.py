"""The command line of the mutation bench: choose, run side by side, print the tables."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import pkgutil
import statistics
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

import torchmedic
from bench.mutation.catalogue import HEALTHY, mutants, sample
from bench.mutation.running import Heard, Result, judge, listen_to_healthy, listen_to_mutant
from bench.mutation.script import Mutant


def main() -> int:
    options = _options()
    chosen = mutants(options.mutators, options.scripts)
    if options.sample:
        chosen = sample(chosen, options.sample, options.seed)
    _import_beforehand()
    began = time.monotonic()
    with ProcessPoolExecutor(options.jobs, get_context("fork")) as pool:
        results = [_told(judge(*pair), options.out) for pair in pool.map(_listen, chosen)]
        asked = {r.mutant.script for r in results if r.verdict == "silent"}
        if not options.sample and not options.mutators:
            asked = {path.stem for path in HEALTHY.glob("*.py") if not options.scripts or path.stem in options.scripts}
        healthy = dict(pool.map(_listen_to_healthy, sorted(asked)))
    results = [judge(r.mutant, r.heard, healthy.get(r.mutant.script)) for r in results]
    if options.out:
        options.out.write_text("".join(_as_line(r) for r in results))
    _print_table("mutator", results, lambda r: r.mutant.mutator)
    _print_table("script", results, lambda r: r.mutant.script)
    alarms = [f"{name} ({heard.code})" for name, heard in sorted(healthy.items()) if heard.code]
    print(f"healthy scripts run: {len(healthy)}, false alarms: {', '.join(alarms) or 'none'}")
    spent = [r.heard.seconds for r in results]
    each = f"{statistics.median(spent):.1f} s (median), {max(spent):.1f} s at most"
    print(f"{time.monotonic() - began:.0f} s; a mutant {each}")
    return 1 if alarms else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Mutate healthy scripts and count what torchmedic finds.")
    names = lambda text: tuple(filter(None, text.split(",")))  # noqa: E731
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="only N mutants, every mutator in turn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mutators", type=names, default=(), metavar="A,B")
    parser.add_argument("--scripts", type=names, default=(), metavar="A,B")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, metavar="FILE", help="every result as a line of JSON, as it comes")
    options = parser.parse_args()
    if options.out:
        options.out.unlink(missing_ok=True)
    return options


def _import_beforehand() -> None:
    """What many scripts import, once before the forks; and all of torchmedic, which may be edited meanwhile."""
    for module in pkgutil.walk_packages(torchmedic.__path__, "torchmedic."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(module.name)
    import sklearn.datasets
    import sklearn.linear_model
    import sklearn.model_selection  # noqa: F401


def _listen(mutant: Mutant) -> tuple[Mutant, Heard]:
    return mutant, listen_to_mutant(mutant)


def _listen_to_healthy(name: str) -> tuple[str, Heard]:
    return name, listen_to_healthy(name)


def _told(result: Result, out: Path | None) -> Result:
    """Say at once what is not exact, and keep all: the whole bench takes an hour."""
    if out:
        with out.open("a") as file:
            file.write(_as_line(result))
    if result.verdict != "exact":
        mutant, heard = result.mutant, result.heard
        lines = ",".join(map(str, sorted(mutant.lines)))
        said = f"{heard.code} line {heard.line}: {heard.headline}" if heard.code else f"status {heard.status}"
        print(f"{result.verdict:8s} {mutant.name} (lines {lines}) {said}", file=sys.stderr, flush=True)
    return result


def _as_line(result: Result) -> str:
    mutant = asdict(result.mutant) | {"lines": sorted(result.mutant.lines)}
    return json.dumps({"verdict": result.verdict, "heard": asdict(result.heard), "mutant": mutant}) + "\n"


def _print_table(title: str, results: Iterable[Result], key: object) -> None:
    rows: dict[str, list[Result]] = {}
    for result in results:
        rows.setdefault(key(result), []).append(result)  # type: ignore[operator]
    print(f"\n| {title} | mutants | harmless | found | line | exact |\n|---|---|---|---|---|---|")
    everything = [r for group in rows.values() for r in group]
    for name, group in (*sorted(rows.items()), ("all", everything)):
        print(f"| {name} | " + " | ".join(_counts(group)) + " |")


def _counts(group: list[Result]) -> list[str]:
    verdicts = [r.verdict for r in group]
    harmless = verdicts.count("harmless")
    sick = len(group) - harmless
    on_line = verdicts.count("exact") + verdicts.count("line")
    found = sick - verdicts.count("silent") - verdicts.count("failed")
    exact = verdicts.count("exact")
    share = f" ({100 * exact / sick:.0f} %)" if sick else ""
    return [str(len(group)), str(harmless), str(found), str(on_line), f"{exact}{share}"]
