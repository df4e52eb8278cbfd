"""Random numbers that are the same on every rank, although every rank has other data."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RandomDraws, RankStep, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._steps import steps_of

_ENOUGH = 3
_WHAT = {
    "input": "what is drawn for the model's input",
    "model": "what the model draws",
    "data": "what the data set draws",
}
_SEEDS = {
    "torch": "torch.manual_seed(seed + rank)",
    "numpy": "np.random.seed(seed + rank)",
    "python": "random.seed(seed + rank)",
}


class SameDrawsOnAllRanks(Rule):
    """A line of the user's draws from a generator that stands at the same place on all ranks, step after step."""

    code = "WIR112"
    name = "same-draws-on-all-ranks"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "batches differ between ranks, but the random generator stands at the same place on all of them"
    needs = (RandomDraws, RankStep)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        steps = _draws_of(run)
        keys = sorted({key for by_rank in steps.values() for seen in by_rank for key in seen.states})
        for key in sorted(keys, key=lambda key: key.startswith("data")):
            shared = [[seen.states[key] for seen in by_rank] for by_rank in steps.values() if _all_have(by_rank, key)]
            if len(shared) >= _ENOUGH and all(len(set(states)) == 1 for states in shared):
                yield self._found(run, key, next(s for by_rank in steps.values() for s in by_rank if key in s.places))
                return

    def _found(self, run: Run, key: str, seen: RandomDraws) -> Diagnosis:
        what, _, generator = key.partition(" ")
        place, seeded = seen.places[key], seen.seeded.get(generator)
        return self.diagnose(
            headline=f"{_WHAT[what]} is the same on all {len(run.ranks)} ranks, their data is not",
            confidence="proven",
            severity="hint" if what == "data" else "warning",
            where=seeded or place,
            label="the same seed on every rank" if seeded else "draws the same numbers on every rank",
            step=seen.step,
            also=(Also(location=place, why="draws the same numbers on every rank"),) if seeded is not None else (),
            culprit=Culprit(op="manual_seed" if generator == "torch" else "seed", phase="data"),
            evidence=(
                f"before each draw the generator of `{generator}` was in the same state on all ranks",
                "ranks that share their noise average it out less: more of them do not make the gradient steadier",
            ),
            remedies=(
                Remedy(title=f"give each rank its own seed: `{_SEEDS[generator]}`, `rank` from `dist.get_rank()`"),
                Remedy(title="the model may be built before that: `DistributedDataParallel` spreads rank 0's weights"),
            ),
        )


def _draws_of(run: Run) -> dict[int, list[RandomDraws]]:
    """By step, the draws of all ranks; only steps in which the ranks had different batches."""
    found: dict[int, list[RandomDraws]] = {}
    for rank in run.ranks:
        for seen in rank.all(RandomDraws):
            found.setdefault(seen.step or 0, []).append(seen)
    other = {step for step, by_rank in steps_of(run).items() if _has_other_batches(by_rank)}
    return {step: seen for step, seen in sorted(found.items()) if step in other and len(seen) == len(run.ranks) > 1}


def _has_other_batches(by_rank: dict[int, RankStep]) -> bool:
    batches = [seen.batch for seen in by_rank.values()]
    return all(batches) and len(set(batches)) == len(batches)


def _all_have(by_rank: list[RandomDraws], key: str) -> bool:
    return all(key in seen.states for seen in by_rank)
