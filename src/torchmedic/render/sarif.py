"""A verdict as SARIF 2.1.0, for code hosts and editors that show findings beside the line."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

from torchmedic._version import __version__
from torchmedic.facts import Location
from torchmedic.findings import Diagnosis, Verdict

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_HOME = "https://github.com/torchmedic/torchmedic"
_LEVELS = {"error": "error", "warning": "warning", "hint": "note"}


def to_sarif(verdict: Verdict) -> str:
    """The verdict as a SARIF log with one run; the order of results is the order of the diagnoses."""
    rules = _rules(verdict)
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "torchmedic",
                        "version": __version__,
                        "semanticVersion": __version__,
                        "informationUri": _HOME,
                        "rules": rules,
                    }
                },
                "invocations": [_invocation(verdict)],
                "columnKind": "unicodeCodePoints",
                "results": [_result(d, index[d.code]) for d in verdict.diagnoses],
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _rules(verdict: Verdict) -> list[dict[str, Any]]:
    """The rules that spoke, each once."""
    first = {d.code: d for d in reversed(verdict.diagnoses)}
    return [
        {
            "id": d.code,
            "name": "".join(word.capitalize() for word in d.name.split("-")),
            "shortDescription": {"text": d.name},
            "help": {"text": f"torchmedic explain {d.code}"},
            "properties": {"tags": [d.family]},
        }
        for d in sorted(first.values(), key=lambda d: d.code)
    ]


def _invocation(verdict: Verdict) -> dict[str, Any]:
    """How the analysis went: it succeeded; what it could not explain is a notification."""
    found: dict[str, Any] = {"executionSuccessful": True}
    if verdict.info.exit_code is not None:
        found["properties"] = {"scriptExitCode": verdict.info.exit_code}
    if verdict.unexplained:
        found["toolExecutionNotifications"] = [
            {"level": "warning", "message": {"text": f"not explained: {line}"}} for line in verdict.unexplained
        ]
    return found


def _result(d: Diagnosis, rule_index: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": d.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[d.severity],
        "message": {"text": _message(d)},
        "properties": {"confidence": d.confidence, "step": d.step, "name": d.name},
    }
    if d.where is not None:
        result["locations"] = [_place(d.where, d.label)]
    if d.also:
        related = [_place(also.location, also.why) for also in d.also]
        result["relatedLocations"] = [{"id": number, **place} for number, place in enumerate(related)]
    return result


def _message(d: Diagnosis) -> str:
    """Headline, evidence and cures as the plain text that a code host shows."""
    lines = [d.headline]
    lines += [f"note: {line}" for line in d.evidence]
    lines += [f"ruled out: {r.suspect} ({r.how})" for r in d.ruled_out]
    for remedy in d.remedies:
        lines.append(f"help: {remedy.title}" + (f"; {remedy.detail}" if remedy.detail else ""))
    return "\n".join(lines)


def _place(where: Location, message: str) -> dict[str, Any]:
    place: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": _uri(where.file)}}}
    if where.line > 0:
        region: dict[str, Any] = {"startLine": where.line}
        if where.source.strip():
            region["snippet"] = {"text": where.source}
        place["physicalLocation"]["region"] = region
    if where.function and where.function != "<module>":
        place["logicalLocations"] = [{"fullyQualifiedName": where.function, "kind": "function"}]
    if message:
        place["message"] = {"text": message}
    return place


def _uri(path: str) -> str:
    """A path as a URI reference.

    >>> _uri("my data/train.py"), _uri("C:\\\\lab\\\\a.py")
    ('my%20data/train.py', 'file:///C:/lab/a.py')
    """
    slashed = path.replace("\\", "/")
    if re.match(r"^[A-Za-z]:/", slashed):
        return "file:///" + slashed[:2] + quote(slashed[2:])
    return ("file://" if slashed.startswith("/") else "") + quote(slashed)
