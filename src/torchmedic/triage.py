"""From a Run to a Verdict: run the rules, put causes before consequences, fold, or abstain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from torchmedic.facts import (
    ChildCrash,
    ChildDeath,
    Crash,
    GradModeAtCrash,
    Joining,
    LayerBuilt,
    LoaderAtCrash,
    ModelAtCrash,
    PeerLost,
    RankEnded,
    RankSeen,
    Run,
    SourceFile,
    standing_of,
    starter_of,
)
from torchmedic.findings import Diagnosis, Outcome, Rule, Verdict
from torchmedic.rules import catalogue

_ASIDE = ("environment", "memory")
_SEVERITY = {"error": 0, "warning": 1, "hint": 2}
# Exceptions of a handler that is itself wrong; others may be a second attempt at the same thing.
_SLIPS = ("NameError", "UnboundLocalError", "AttributeError", "TypeError")
_SCENE = (SourceFile, LayerBuilt, ModelAtCrash, LoaderAtCrash, GradModeAtCrash)
_MOST_TOLD_TOO, _MOST_EXAMPLES = 8, 20
_LONGEST_HEADLINE = 90
_DIGITS = re.compile(r"\d[\d,.]*")
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
    by_name = {rule.name: rule for rule in rules}
    found, failures = _found(run, rules)
    told = _naming_ranks(_over_files(_without_repeats(found, by_name), by_name), run, by_name)
    ordered = _in_order(_without_those_giving_way(_without_fallbacks(told, by_name), by_name, run))
    slips = [d for d in ordered if any(_is_at(d, crash) for crash in run.all(Crash) if _is_slip(crash))]
    diagnoses = _with_earlier(run, rules, _fold(ordered, by_name, run, apart=slips))
    return Verdict(
        outcome=_outcome(run, diagnoses),
        info=run.info,
        diagnoses=tuple(diagnoses),
        unexplained=(*_unexplained(run, diagnoses), *failures),
    )


def _found(run: Run, rules: Iterable[Rule]) -> tuple[list[Diagnosis], list[str]]:
    """What the rules say of a run, and which of them failed."""
    found: list[Diagnosis] = []
    failures: list[str] = []
    for rule in rules:
        for part in (run,) if rule.across_ranks else _parts(run):
            if all(part.first(kind) is not None for kind in rule.needs):
                try:
                    found.extend(_told_of(part, run, rule))
                except Exception as error:  # noqa: BLE001 - one broken rule must not silence the others
                    failures.append(f"rule {rule.code} failed on this run ({type(error).__name__}: {error})")
    return found, failures


def _with_earlier(run: Run, rules: tuple[Rule, ...], diagnoses: list[Diagnosis]) -> list[Diagnosis]:
    """The same with what is known of an exception that lay behind the last one.

    One that was wrapped is told where nothing else is. One that was being handled when the handler failed is told of
    as well: a slip of the handler hides it.
    """
    for part in _parts(run):
        crash = _ended_by(part)
        explained = any(d.severity == "error" for d in diagnoses)
        while crash is not None and crash.cause is not None and (not explained or _is_in_handler(crash)):
            earlier = _told_of_earlier(part, crash.cause, rules)
            known = {(d.code, d.where) for d in diagnoses}
            new = [replace(d, evidence=(*d.evidence, _what_followed(crash))) for d in earlier]
            if _is_in_handler(crash):
                note = _what_came_first(crash.cause, earlier)
                diagnoses = [_noted(d, note, crash) for d in diagnoses]
            if not explained or _is_slip(crash):
                diagnoses = [*diagnoses, *(d for d in new if (d.code, d.where) not in known)]
            explained = explained or bool(new)
            crash = crash.cause
    return diagnoses


def _ended_by(part: Run) -> Crash | None:
    """The exception that ended the script; behind a lost connection, what the process at its other end died of."""
    crash, child = part.first(Crash), part.first(ChildCrash)
    return replace(crash, cause=child.crash) if crash is not None and child is not None else crash


def _is_in_handler(crash: Crash) -> bool:
    """Whether the user's own `except` block failed: the function whose attempt failed is where this one came up."""
    tried = crash.cause.frames[0] if crash.handling and crash.cause is not None and crash.cause.frames else None
    if tried is None or not tried.is_user:
        return False
    place = (tried.location.file, tried.location.function)
    return any(f.is_user and (f.location.file, f.location.function) == place for f in crash.frames)


def _is_slip(crash: Crash) -> bool:
    """Whether a handler failed by a fault of its own, not with what it handled."""
    return crash.type_name in _SLIPS and _is_in_handler(crash)


def _told_of_earlier(part: Run, crash: Crash, rules: tuple[Rule, ...]) -> list[Diagnosis]:
    """The rules' word on an earlier exception, by its own frames and what is true of the whole script."""
    if crash.source == "live" and crash.user_frame is None:
        return []
    scene = tuple(seen for kind in _SCENE for seen in part.all(kind))
    about = tuple(rule for rule in rules if Crash in rule.needs)
    by_name = {rule.name: rule for rule in about}
    scene_of_it = Run(info=part.info, observations=(crash, *scene))
    found, _ = _found(scene_of_it, about)
    ordered = _in_order(_without_fallbacks(found, by_name))
    return [d for d in _fold(ordered, by_name, scene_of_it) if d.severity == "error"]


def _what_followed(crash: Crash) -> str:
    if crash.handling:
        return f"while this was handled, {_called(crash)} ended the script"
    return f"{_called(crash)} was raised from it"


def _what_came_first(crash: Crash, told: list[Diagnosis]) -> str:
    why = told[0].headline if told else (crash.message.splitlines() or [""])[0].strip()
    return f"it came up while {_called(crash)} was handled: {why}"


def _called(crash: Crash) -> str:
    """An exception by its class and its line."""
    frame = crash.user_frame
    return f"`{crash.called}` at {frame.location}" if frame is not None else f"`{crash.called}`"


def _noted(diagnosis: Diagnosis, note: str, crash: Crash) -> Diagnosis:
    """With a note, where it is about this exception."""
    return replace(diagnosis, evidence=(*diagnosis.evidence, note)) if _is_at(diagnosis, crash) else diagnosis


def _is_at(diagnosis: Diagnosis, crash: Crash) -> bool:
    """Whether an error is told of the line that raised this exception."""
    frame, where = crash.user_frame, diagnosis.where
    if diagnosis.severity != "error" or frame is None or where is None:
        return False
    return (where.file, where.line) == (frame.location.file, frame.location.line)


def _parts(run: Run) -> tuple[Run, ...]:
    """The processes of a run: its ranks, and the one that started them."""
    if not run.ranks:
        return (run,)
    return (*run.ranks, starter_of(run))


def _told_of(part: Run, run: Run, rule: Rule) -> Iterator[Diagnosis]:
    """Diagnoses with the ranks they are about: those that the rule names, or all that it was asked about."""
    asked = [rank.info.rank for rank in run.ranks if rule.across_ranks or rank is part]
    for diagnosis in rule.check(part):
        is_told = diagnosis.ranks or len(run.ranks) < 2
        yield diagnosis if is_told else replace(diagnosis, ranks=tuple(asked))


def _without_repeats(found: list[Diagnosis], rules: dict[str, Rule]) -> list[Diagnosis]:
    """One diagnosis per rule and line, whichever and however many ranks it was made on; others become notes of it."""
    seen: dict[tuple[str, object], Diagnosis] = {}
    others: dict[tuple[str, object], list[str]] = {}
    for diagnosis in found:
        place = (diagnosis.where.file, diagnosis.where.line) if diagnosis.where else diagnosis.headline
        first = seen.setdefault((diagnosis.code, place), diagnosis)
        if diagnosis is not first:
            seen[diagnosis.code, place] = replace(first, ranks=tuple(sorted({*first.ranks, *diagnosis.ranks})))
        if rules[diagnosis.name].tells_each and diagnosis.headline != first.headline:
            others.setdefault((diagnosis.code, place), []).append(diagnosis.headline)
    return [replace(d, evidence=(*d.evidence, *_told_too(others.get(key, [])))) for key, d in seen.items()]


def _over_files(found: list[Diagnosis], rules: dict[str, Rule]) -> list[Diagnosis]:
    """One diagnosis of what was found in many files alike, at the first of them; the others become notes of it."""
    alike: dict[tuple[object, ...], list[Diagnosis]] = {}
    for number, diagnosis in enumerate(found):
        whole_file = rules[diagnosis.name].tells_each and diagnosis.where is not None and not diagnosis.where.line
        what = (_DIGITS.sub("0", diagnosis.headline), diagnosis.culprit.field, diagnosis.remedies, diagnosis.severity)
        alike.setdefault((diagnosis.code, *what) if whole_file else (number,), []).append(diagnosis)
    return [_in_many(same) if len(same) > 1 else same[0] for same in alike.values()]


def _in_many(same: list[Diagnosis]) -> Diagnosis:
    """The first, with the files of the others and the bad places in them."""
    first, others = same[0], [(d.where.file, d) for d in same[1:] if d.where is not None]
    files = [file for file, _ in others]
    shown = [(file, d.culprit.examples[:2]) for file, d in others if d.culprit.examples][:_MOST_TOLD_TOO]
    notes = [f"`{file}`: {', '.join(f'`{example}`' for example in examples)}" for file, examples in shown]
    if len(shown) < len(files):
        notes.append(_likewise(files))
    headline = _and_more(first.headline, files)
    examples = [f"{file} {example}" for file, d in others for example in d.culprit.examples]
    rows = [d.culprit.rows for d in same if d.culprit.rows is not None]
    culprit = replace(
        first.culprit,
        rows=sum(rows) if rows else None,
        examples=(*first.culprit.examples, *examples)[:_MOST_EXAMPLES],
    )
    is_short = len(headline) <= _LONGEST_HEADLINE
    evidence = (*first.evidence, *notes)
    return replace(first, headline=headline if is_short else first.headline, evidence=evidence, culprit=culprit)


def _and_more(headline: str, files: list[str]) -> str:
    count = len(files)
    if _are_files(files):
        return f"{headline}, and in {count:,} more file{'s' if count > 1 else ''}"
    return f"{headline}, and in {count:,} more source{'s' if count > 1 else ''}"


def _likewise(files: list[str]) -> str:
    count = len(files)
    listed = ", ".join(f"`{file}`" for file in files[:_MOST_TOLD_TOO]) + (", …" if count > _MOST_TOLD_TOO else "")
    if _are_files(files):
        return f"likewise in {count:,} more file{'s' if count > 1 else ''}: {listed}"
    return f"likewise in {count:,} more source{'s' if count > 1 else ''}: {listed}"


def _are_files(sources: list[str]) -> bool:
    """Not tables of a database, and not what a script holds.

    >>> _are_files(["data/a.pt"]), _are_files(["events.db:labs"]), _are_files(["train"])
    (True, False, False)
    """
    names = [PurePath(source).name for source in sources]
    return all("." in name and ":" not in name for name in names)


def _told_too(headlines: list[str]) -> list[str]:
    told = list(dict.fromkeys(headlines))
    more = len(told) - _MOST_TOLD_TOO
    return [*(f"likewise: {headline}" for headline in told[:_MOST_TOLD_TOO]), *([f"and {more:,} more"] * (more > 0))]


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


def _without_those_giving_way(found: list[Diagnosis], rules: dict[str, Rule], run: Run) -> list[Diagnosis]:
    """A thing that nearly every cause brings about is told of where no cause was found.

    What is true of the environment may be true of a healthy training as well, as long as it is but a hint.
    """
    causes = [d for d in found if not rules[d.name].gives_way]
    is_explained = any(d.severity != "hint" or d.family not in _ASIDE for d in causes)
    if not is_explained and run.first(Crash) is None:
        return found
    return causes


def _in_order(found: list[Diagnosis]) -> list[Diagnosis]:
    return sorted(found, key=lambda d: (_SEVERITY[d.severity], _CONFIDENCE[d.confidence], d.code))


def _fold(found: list[Diagnosis], rules: dict[str, Rule], run: Run, apart: Sequence[Diagnosis] = ()) -> list[Diagnosis]:
    """Turn consequences into notes of their cause; those that stand apart are nobody's."""
    folds = {d.name: rules[d.name].folds_in(run) for d in found}
    kept: list[Diagnosis] = []
    folded: dict[int, list[str]] = {}
    for diagnosis in found:
        others = (other for other in found if other is not diagnosis)
        least = 1 if rules[diagnosis.name].is_cause else 0
        cause = next(
            (c for c in others if _claim(folds[c.name], diagnosis) > max(least, _claim(folds[diagnosis.name], c))), None
        )
        if cause is not None and diagnosis not in apart:
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
        failed = next((rank.info.rank for rank in run.ranks if crash in rank.observations), None)
        # A worker's own exception says more than that it was passed on.
        is_passed_on = crash.cause is not None and "DataLoader worker" in crash.message.partition("\n")[0]
        inner = crash.cause if crash.cause is not None and is_passed_on else crash
        child = run.first(ChildCrash)
        inner = child.crash if child is not None else inner
        first_line = next((line.strip() for line in inner.message.splitlines() if line.strip()), "")
        told = f"{inner.called}: {first_line}".rstrip(": ")
        return [told if failed is None else f"rank {failed}: {told}"]
    lost = run.first(PeerLost)
    if lost is not None and not any(d.severity == "error" for d in diagnoses):
        return [f"a rank lost its connection to another one: {lost.message}"]
    return []
