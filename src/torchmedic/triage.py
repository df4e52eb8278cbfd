"""From a Run to a Verdict: run the rules, put causes before consequences, fold, or abstain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from torchmedic.facts import ChildDeath, Crash, Joining, PeerLost, RankEnded, RankSeen, Run, standing_of
from torchmedic.findings import Diagnosis, Outcome, Rule, Verdict
from torchmedic.rules import catalogue

_SEVERITY = {"error": 0, "warning": 1, "hint": 2}
_CONFIDENCE = {"proven": 0, "likely": 1, "possible": 2}


def names_of_rules() -> frozenset[str]:
    """Everything that a rule can be called by: its code, and its name."""
    return frozenset(word for rule in catalogue() for word in (rule.code, rule.name))


def examine(run: Run, rules: Iterable[Rule] | None = None) -> Verdict:
    """The verdict on a run.

    >>> examine(Run()).outcome
    'healthy'
    """
    rules = tuple(catalogue() if rules is None else rules)
    found: list[Diagnosis] = []
    failures: list[str] = []
    for rule in rules:
        for part in (run,) if rule.across_ranks else _parts(run):
            if all(part.first(kind) is not None for kind in rule.needs):
                try:
                    found.extend(_told_of(part, run, rule))
                except Exception as error:  # noqa: BLE001 - one broken rule must not silence the others
                    failures.append(f"rule {rule.code} failed on this run ({type(error).__name__}: {error})")
    by_name = {rule.name: rule for rule in rules}
    told = _naming_ranks(_without_repeats(found), run, by_name)
    diagnoses = _fold(_in_order(_without_fallbacks(told, by_name)), by_name, run)
    return Verdict(
        outcome=_outcome(run, diagnoses),
        info=run.info,
        diagnoses=tuple(diagnoses),
        unexplained=(*_unexplained(run, diagnoses), *failures),
    )


def _parts(run: Run) -> tuple[Run, ...]:
    """The processes of a run: its ranks, and the one that started them."""
    if not run.ranks:
        return (run,)
    of_ranks = {id(seen) for rank in run.ranks for seen in rank.observations}
    own = tuple(seen for seen in run.observations if id(seen) not in of_ranks)
    return (*run.ranks, Run(info=run.info, observations=own))


def _told_of(part: Run, run: Run, rule: Rule) -> Iterator[Diagnosis]:
    """Diagnoses with the ranks they are about: those that the rule names, or all that it was asked about."""
    asked = [rank.info.rank for rank in run.ranks if rule.across_ranks or rank is part]
    for diagnosis in rule.check(part):
        is_told = diagnosis.ranks or len(run.ranks) < 2
        yield diagnosis if is_told else replace(diagnosis, ranks=tuple(asked))


def _without_repeats(found: list[Diagnosis]) -> list[Diagnosis]:
    """One diagnosis per rule and line, whichever and however many ranks it was made on."""
    seen: dict[tuple[str, object], Diagnosis] = {}
    for diagnosis in found:
        place = (diagnosis.where.file, diagnosis.where.line) if diagnosis.where else diagnosis.headline
        first = seen.setdefault((diagnosis.code, place), diagnosis)
        if diagnosis is not first:
            seen[diagnosis.code, place] = replace(first, ranks=tuple(sorted({*first.ranks, *diagnosis.ranks})))
    return list(seen.values())


def _naming_ranks(found: list[Diagnosis], run: Run, rules: dict[str, Rule]) -> list[Diagnosis]:
    """Say on which ranks a thing was seen. A rule that compares ranks says so in its own words."""
    is_group = run.first(RankSeen) is not None or run.first(Joining) is not None
    return [
        replace(d, evidence=((_seen_on if is_group else _seen_in)(d.ranks, run.info.world), *d.evidence))
        if d.ranks and not rules[d.name].across_ranks
        else d
        for d in found
    ]


def _seen_on(ranks: tuple[int, ...], world: int) -> str:
    """
    >>> _seen_on((1,), 4), _seen_on((0, 1), 2), _seen_on((0, 2, 3), 4)
    ('seen on rank 1 of 4', 'seen on all 2 ranks', 'seen on ranks 0, 2 and 3 of 4')
    """
    if len(ranks) >= world > 1:
        return f"seen on all {world} ranks"
    names = ", ".join(map(str, ranks[:-1])) + (" and " if len(ranks) > 1 else "") + str(ranks[-1])
    return f"seen on rank{'s' if len(ranks) > 1 else ''} {names} of {world}"


def _seen_in(processes: tuple[int, ...], count: int) -> str:
    """The same of processes that train apart, numbered in the order in which they were started.

    >>> _seen_in((1,), 4), _seen_in((0, 1), 2)
    ('seen in process 1 of 4, counted from 0', 'seen in all 2 processes')
    """
    if len(processes) >= count:
        return f"seen in all {count} processes"
    names = ", ".join(map(str, processes[:-1])) + (" and " if len(processes) > 1 else "") + str(processes[-1])
    return f"seen in process{'es' if len(processes) > 1 else ''} {names} of {count}, counted from 0"


def _without_fallbacks(found: list[Diagnosis], rules: dict[str, Rule]) -> list[Diagnosis]:
    """A general answer is dropped where a rule that knows the cause has spoken."""
    explained = any(d.severity == "error" and not rules[d.name].fallback for d in found)
    return [d for d in found if not (explained and rules[d.name].fallback)]


def _in_order(found: list[Diagnosis]) -> list[Diagnosis]:
    return sorted(found, key=lambda d: (_SEVERITY[d.severity], _CONFIDENCE[d.confidence], d.code))


def _fold(found: list[Diagnosis], rules: dict[str, Rule], run: Run) -> list[Diagnosis]:
    """Turn consequences into notes of their cause."""
    folds = {d.name: rules[d.name].folds_in(run) for d in found}
    kept: list[Diagnosis] = []
    folded: dict[int, list[str]] = {}
    for diagnosis in found:
        others = (other for other in found if other is not diagnosis)
        cause = next((c for c in others if _claim(folds[c.name], diagnosis) > _claim(folds[diagnosis.name], c)), None)
        if cause is not None:
            folded.setdefault(id(cause), []).append(f"as a consequence: {diagnosis.headline}")
        else:
            kept.append(diagnosis)
    return [replace(d, evidence=(*d.evidence, *folded.get(id(d), ()))) for d in kept]


def _claim(folds: tuple[str, ...], consequence: Diagnosis) -> int:
    """How much a rule knows of another as its consequence: by its name, or just as one of a family."""
    if consequence.name in folds:
        return 2
    return int(any(consequence.code.startswith(family) for family in folds))


def _outcome(run: Run, diagnoses: list[Diagnosis]) -> Outcome:
    parts = run.ranks or (run,)
    is_stuck = any((standing := standing_of(part)) is not None and standing.patience > 0 for part in parts)
    ends = list(run.all(RankEnded))
    was_killed = any(end.signal or (end.status and not run.info.stopped_by_us) for end in ends)
    if run.first(Crash) or run.first(PeerLost) or (not is_stuck and (was_killed or run.first(ChildDeath))):
        # A run that hung is ended by somebody, with whatever signal that takes.
        return "crashed"
    return "sick" if any(d.severity != "hint" for d in diagnoses) else "healthy"


def _unexplained(run: Run, diagnoses: list[Diagnosis]) -> list[str]:
    crash = run.first(Crash)
    if crash is not None and not any(d.severity == "error" for d in diagnoses):
        first_line = crash.message.splitlines()[0] if crash.message else ""
        failed = next((rank.info.rank for rank in run.ranks if crash in rank.observations), None)
        told = f"{crash.type_name}: {first_line}".rstrip(": ")
        return [told if failed is None else f"rank {failed}: {told}"]
    lost = run.first(PeerLost)
    if lost is not None and not any(d.severity == "error" for d in diagnoses):
        return [f"a rank lost its connection to another one: {lost.message}"]
    return []
