"""From a Run to a Verdict: run the rules, put causes before consequences, fold, or abstain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from torchmedic.facts import ChildDeath, Crash, Run
from torchmedic.findings import Diagnosis, Outcome, Rule, Verdict
from torchmedic.rules import catalogue

_SEVERITY = {"error": 0, "warning": 1, "hint": 2}
_CONFIDENCE = {"proven": 0, "likely": 1, "possible": 2}


def examine(run: Run, rules: Iterable[Rule] | None = None) -> Verdict:
    """The verdict on a run.

    >>> examine(Run()).outcome
    'healthy'
    """
    rules = tuple(catalogue() if rules is None else rules)
    found: list[Diagnosis] = []
    failures: list[str] = []
    for rule in rules:
        if all(run.first(kind) is not None for kind in rule.needs):
            try:
                found.extend(rule.check(run))
            except Exception as error:  # noqa: BLE001 - one broken rule must not silence the others
                failures.append(f"rule {rule.code} failed on this run ({type(error).__name__}: {error})")
    by_name = {rule.name: rule for rule in rules}
    diagnoses = _fold(_in_order(_without_fallbacks(_without_repeats(found), by_name)), by_name)
    return Verdict(
        outcome=_outcome(run, diagnoses),
        info=run.info,
        diagnoses=tuple(diagnoses),
        unexplained=(*_unexplained(run, diagnoses), *failures),
    )


def _without_repeats(found: list[Diagnosis]) -> list[Diagnosis]:
    """One diagnosis per rule and line."""
    seen: dict[tuple[str, object], Diagnosis] = {}
    for diagnosis in found:
        place = (diagnosis.where.file, diagnosis.where.line) if diagnosis.where else diagnosis.headline
        seen.setdefault((diagnosis.code, place), diagnosis)
    return list(seen.values())


def _without_fallbacks(found: list[Diagnosis], rules: dict[str, Rule]) -> list[Diagnosis]:
    """A general answer is dropped where a rule that knows the cause has spoken."""
    explained = any(d.severity == "error" and not rules[d.name].fallback for d in found)
    return [d for d in found if not (explained and rules[d.name].fallback)]


def _in_order(found: list[Diagnosis]) -> list[Diagnosis]:
    return sorted(found, key=lambda d: (_SEVERITY[d.severity], _CONFIDENCE[d.confidence], d.code))


def _fold(found: list[Diagnosis], rules: dict[str, Rule]) -> list[Diagnosis]:
    """Turn consequences into notes of their cause."""
    kept: list[Diagnosis] = []
    folded: dict[int, list[str]] = {}
    for diagnosis in found:
        cause = next((c for c in found if c is not diagnosis and _explains(rules[c.name], diagnosis)), None)
        if cause is not None and not _explains(rules[diagnosis.name], cause):
            folded.setdefault(id(cause), []).append(f"as a consequence: {diagnosis.headline}")
        else:
            kept.append(diagnosis)
    return [replace(d, evidence=(*d.evidence, *folded.get(id(d), ()))) for d in kept]


def _explains(cause: Rule, consequence: Diagnosis) -> bool:
    return any(consequence.name == name or consequence.code.startswith(name) for name in cause.folds)


def _outcome(run: Run, diagnoses: list[Diagnosis]) -> Outcome:
    if run.first(Crash) is not None or run.first(ChildDeath) is not None:
        return "crashed"
    return "sick" if any(d.severity != "hint" for d in diagnoses) else "healthy"


def _unexplained(run: Run, diagnoses: list[Diagnosis]) -> list[str]:
    crash = run.first(Crash)
    if crash is not None and not any(d.severity == "error" for d in diagnoses):
        first_line = crash.message.splitlines()[0] if crash.message else ""
        return [f"{crash.type_name}: {first_line}".rstrip(": ")]
    return []
