"""`torchmedic symptoms`: from what is seen to what may cause it, and how to tell the causes apart."""

from __future__ import annotations

import difflib
import itertools
import re
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchmedic.cli._common_causes import COMMONEST
from torchmedic.cli._output import OneLineError
from torchmedic.cli._results import catalogue_json, check_result_path, hanging, write_result
from torchmedic.findings import Symptom
from torchmedic.translation import said

if TYPE_CHECKING:
    from torchmedic.rules import Entry

_PAIR = re.compile(r"[\u4e00-\u9fff]{2}")
_FILLERS = re.compile(
    r"an?|and|are|as|at|be|been|but|by|can|do|does|from|gets?|go|goes|has|have|i|in|is|its?|my|of|on|or|s|so|stays|t|"
    r"that|the|there|they|this|to|too|very|was|we|when|while|will|with|always|suddenly|after|some"
)
# How people say it -> the word that the symptoms use.
_MEANINGS = {
    "inf": "infinite", "infinity": "infinite", "nans": "nan", "decrease": "fall", "decreasing": "fall",
    "falling": "fall", "drop": "fall", "flat": "fall", "plateau": "fall",
    "learn": "fall", "learning": "fall", "improve": "fall", "constant": "fall",
    "stuck": "hangs", "hang": "hangs", "freeze": "hangs", "frozen": "move", "update": "move", "updated": "move",
    "updating": "move", "change": "move", "oom": "memory", "ram": "memory", "leak": "grows", "explode": "diverges",
    "explodes": "diverges", "exploding": "diverges", "diverge": "diverges", "accuracy": "score", "metric": "score",
    "auc": "score", "cuda": "gpu", "error": "exception", "crash": "exception", "crashes": "exception",
    "traceback": "exception", "importerror": "import", "startup": "start", "load": "start", "zero": "0",
    "same": "equals", "equal": "equals", "validation": "test", "val": "test", "training": "train",
    "reproduce": "differ", "seed": "differ", "random": "differ", "resume": "checkpoint", "parameters": "weights",
    "parameter": "weights", "weight": "weights", "killed": "killed", "segfault": "disappears", "dies": "disappears",
}  # fmt: skip


# So many lines of causes fit a screen with what stands around them.
_LINES = 19
_WIDEST_NAME = 40
# Of more symptoms that are as like the text none can be taken for the one that is meant.
_MOST_ALIKE = 2


@click.command()
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the table as JSON (- for stdout).")
@click.option("--all", "whole", is_flag=True, help="Show every cause, not the commonest alone.")
@click.argument("text", nargs=-1)
def command(json_path: Path | None, whole: bool, text: tuple[str, ...]) -> None:
    """Show which causes explain a symptom, and how to tell them apart.

    TEXT is what you see, in your own words: torchmedic symptoms "loss is nan"
    """
    check_result_path(json_path)
    table = _table()
    wanted = " ".join(text).strip()
    if wanted:
        table = {symptom: table[symptom] for symptom in matching(wanted, list(table))}
    if wanted and not table:
        known = "; ".join(symptom.value for symptom in _table())
        from torchmedic.cli._pasted import verdict_on

        if verdict_on(wanted) is not None:
            raise OneLineError("that is the message of an error: `torchmedic explain` takes it, in quotes or with -")
        raise OneLineError(f"no known symptom is like {wanted!r}; known: {known}")
    if json_path is not None:
        plain = [{"symptom": s.value, "rules": [asdict(rule) for rule in rules]} for s, rules in table.items()]
        write_result(json_path, catalogue_json(symptoms=plain))
        return
    if whole:
        for symptom, rules in table.items():
            _draw(symptom, rules, rules)
            click.echo()
    elif wanted and len(table) <= _MOST_ALIKE:
        _draw_first(table, shlex.join(text))
    else:
        _draw_symptoms(table)


def _table() -> dict[Symptom, list[Entry]]:
    """Every symptom that a rule declares, with those rules."""
    from torchmedic.rules import entries

    # What ends or spoils a run before what only may, and a cause with few faces before one with many.
    order = {"error": 0, "warning": 1, "hint": 2}
    rules = sorted(entries(), key=lambda rule: (order[rule.severity], len(rule.symptoms), rule.code))
    table = {symptom: [rule for rule in rules if symptom.value in rule.symptoms] for symptom in Symptom}
    return {symptom: explaining for symptom, explaining in table.items() if explaining}


def _draw_first(table: dict[Symptom, list[Entry]], text: str) -> None:
    """The likeliest symptom with its commonest causes, and what else there is in a line each."""
    (symptom, rules), *others = table.items()
    shown = _for_a_screen(_commonest_first(symptom, rules))
    _draw(symptom, rules, shown)
    click.echo()
    if len(shown) < len(rules):
        more = len(rules) - len(shown)
        click.echo(said(f"{more} more causes: `torchmedic symptoms --all {text}`"))
    for other, causes in others:
        click.echo(said(f"also like it: {other.value} ({_many(causes)})"))
    click.echo(said("which of them it is: `torchmedic run SCRIPT`"))


def _draw_symptoms(table: dict[Symptom, list[Entry]]) -> None:
    for symptom, rules in table.items():
        click.echo(f"{said(symptom.value)} ({said(_many(rules))})")
    click.echo()
    click.echo(said("one with its causes: `torchmedic symptoms TEXT`; every one: `torchmedic symptoms --all`"))


def _commonest_first(symptom: Symptom, rules: list[Entry]) -> list[Entry]:
    first = COMMONEST.get(symptom, ())
    return sorted(rules, key=lambda rule: first.index(rule.code) if rule.code in first else len(first))


def _for_a_screen(rules: list[Entry]) -> list[Entry]:
    """As many of the first as fit."""
    indent = _indent(rules[: _LINES // 2])
    lines = itertools.accumulate(_line(rule, indent).count("\n") + 1 for rule in rules)
    return rules[: sum(used <= _LINES for used in lines)]


def _draw(symptom: Symptom, rules: list[Entry], shown: list[Entry]) -> None:
    many = _many(rules) + (", the commonest first" if len(shown) < len(rules) else "")
    click.echo(click.style(said(symptom.value), bold=True) + f" ({said(many)})")
    indent = _indent(shown)
    for rule in shown:
        click.echo(_line(rule, indent))


def _indent(rules: list[Entry]) -> int:
    return min(_WIDEST_NAME, max(len(_head(rule)) for rule in rules) + 2)


def _line(rule: Entry, indent: int) -> str:
    return hanging(_head(rule), said(rule.tell_apart), indent)


def _head(rule: Entry) -> str:
    return f"  {rule.code} {rule.name}"


def _many(rules: list[Entry]) -> str:
    return "1 cause" if len(rules) == 1 else f"{len(rules)} causes"


def matching(text: str, symptoms: list[Symptom]) -> list[Symptom]:
    """The symptoms a text may mean, best first; only those that match as well as the best.

    >>> [s.name for s in matching("my Loss turned into NaN!", list(Symptom))]
    ['LOSS_NAN']
    """
    words = _words(text)
    is_chinese = any(_PAIR.fullmatch(word) for word in words)
    known = {symptom: _words(symptom.value + (_in_chinese(symptom) if is_chinese else "")) for symptom in symptoms}
    scored = [(sum(_closeness(word, known[symptom]) for word in words), symptom) for symptom in symptoms]
    best = max((score for score, _ in scored), default=0.0)
    if best < 0.75:
        return []
    return [symptom for score, symptom in scored if score >= best - 0.2]


def _words(text: str) -> list[str]:
    """The words that count; Chinese has no spaces, so that every two neighbours stand for a word."""
    text = re.sub(r"n't\b", " not", text.lower().replace("’", "'"))
    pairs = [text[at : at + 2] for at in range(len(text) - 1) if _PAIR.fullmatch(text[at : at + 2])]
    latin = [_MEANINGS.get(word, word) for word in re.findall(r"[a-z0-9]+", text) if not _FILLERS.fullmatch(word)]
    return latin + pairs


def _in_chinese(symptom: Symptom) -> str:
    from torchmedic.translation.speaking import phrasebook

    return phrasebook("zh").said(symptom.value)


def _closeness(word: str, known: list[str]) -> float:
    """1 for the same word, less for one spelt nearly so, nothing below."""
    if word in known:
        return 1.0
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.75) if len(word) > 3 else []
    return 0.8 if close else 0.0
