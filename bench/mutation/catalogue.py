"""All mutators, and the mutants they make of the healthy scripts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from bench.mutation import figures, losses, slips, wiring  # noqa: F401 - they register their mutators
from bench.mutation.script import MUTATORS, Mutant, Script

HEALTHY = Path(__file__).resolve().parents[2] / "examples" / "healthy"


def mutants(mutators: Collection[str] = (), scripts: Collection[str] = ()) -> list[Mutant]:
    """Every mutator on every script that it fits."""
    read = [Script.read(path) for path in sorted(HEALTHY.glob("*.py")) if not scripts or path.stem in scripts]
    return [m for one in MUTATORS if not mutators or one.name in mutators for s in read for m in one.mutants(s)]


def sample(all_of_them: list[Mutant], size: int, seed: int) -> list[Mutant]:
    """A random choice that visits every mutator before it visits one again, and of its scripts the least visited."""
    draw = random.Random(seed)
    by_mutator: dict[str, list[Mutant]] = {}
    for mutant in all_of_them:
        by_mutator.setdefault(mutant.mutator, []).append(mutant)
    for group in by_mutator.values():
        draw.shuffle(group)
    chosen: list[Mutant] = []
    visits: Counter[str] = Counter()
    while len(chosen) < min(size, len(all_of_them)):
        for group in filter(None, by_mutator.values()):
            fewest = min(group, key=lambda mutant: visits[mutant.script])
            group.remove(fewest)
            visits[fewest.script] += 1
            chosen.append(fewest)
    return chosen[:size]
