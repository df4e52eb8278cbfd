"""A verdict as a plain structure: JSON schema 1."""

from __future__ import annotations

import json
import math
from typing import Any

from torchmedic._version import __version__
from torchmedic.facts import Location
from torchmedic.findings import Culprit, Diagnosis, Verdict


def to_json(verdict: Verdict) -> str:
    """The verdict as strict JSON text (no bare NaN)."""
    return json.dumps(_strict(to_dict(verdict)), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_dict(verdict: Verdict) -> dict[str, Any]:
    """The verdict in the shape of `schema-1.json`."""
    info = verdict.info
    return {
        "schema": 1,
        "tool": "torchmedic",
        "version": __version__,
        "outcome": verdict.outcome,
        "run": {
            "argv": list(info.argv),
            "steps": info.steps,
            "seconds": round(info.seconds, 3),
            "python": info.python,
            "torch": info.torch,
            "device": info.device,
            "interrupted": info.was_interrupted,
            "skipped": {
                "count": info.skipped.count,
                "steps": list(info.skipped.steps),
                "samples": list(info.skipped.samples),
            },
        },
        "diagnoses": [_diagnosis(d) for d in verdict.diagnoses],
        "unexplained": list(verdict.unexplained),
        **verdict.extra,
    }


def _diagnosis(d: Diagnosis) -> dict[str, Any]:
    return {
        "code": d.code,
        "name": d.name,
        "family": d.family,
        "severity": d.severity,
        "confidence": d.confidence,
        "headline": d.headline,
        "step": d.step,
        "where": _place(d.where) if d.where else None,
        "also": [{"file": a.location.file, "line": a.location.line, "why": a.why} for a in d.also],
        "culprit": _culprit(d.culprit),
        "evidence": list(d.evidence),
        "ruled_out": [{"suspect": r.suspect, "how": r.how} for r in d.ruled_out],
        "remedies": [
            {"title": r.title, "detail": r.detail, "diff": r.diff, "verified": r.verified} for r in d.remedies
        ],
        **({"ranks": list(d.ranks)} if d.ranks else {}),
    }


def _place(where: Location) -> dict[str, Any]:
    return {"file": where.file, "line": where.line, "function": where.function, "source": where.source.strip()}


def _culprit(culprit: Culprit) -> dict[str, Any]:
    return {
        "op": culprit.op,
        "phase": culprit.phase,
        "tensor": culprit.tensor,
        "field": culprit.field,
        "sample": culprit.sample,
        "index": list(culprit.index) if culprit.index is not None else None,
        "parameter": culprit.parameter,
        "module": culprit.module,
        "group": culprit.group,
        "rows": culprit.rows,
        "examples": list(culprit.examples),
    }


def _strict(value: Any) -> Any:
    """Non-finite numbers as strings: JSON has none."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_strict(item) for item in value]
    return value
