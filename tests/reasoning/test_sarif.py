"""SARIF: the parts that code hosts read."""

from __future__ import annotations

import json
from typing import Any

from torchmedic.facts import Location, RunInfo
from torchmedic.findings import Also, Diagnosis, Remedy, Verdict
from torchmedic.render.sarif import to_sarif


def a_verdict(*places: str) -> Verdict:
    found = [
        Diagnosis(
            code="NUM004",
            name="zero-std-division",
            family="numerics",
            severity="warning",
            confidence="likely",
            headline="division by zero",
            where=Location(file=place, line=7, function="f", source="    x / std"),
            also=(Also(location=Location(file=place, line=0), why="seen here"),),
            evidence=("std is 0",),
            remedies=(Remedy(title="clamp it", detail="with 1e-6"),),
        )
        for place in places
    ]
    return Verdict(outcome="sick", info=RunInfo(exit_code=1), diagnoses=tuple(found), unexplained=("KeyError: x",))


def the_run(verdict: Verdict) -> dict[str, Any]:
    log = json.loads(to_sarif(verdict))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    found: dict[str, Any] = run
    return found


def test_each_rule_is_described_once_and_results_point_to_it() -> None:
    run = the_run(a_verdict("a.py", "b.py"))
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["NUM004"]
    for result in run["results"]:
        assert result["ruleIndex"] == 0
        assert result["ruleId"] == "NUM004"
        assert result["level"] == "warning"
        assert result["message"]["text"].splitlines() == [
            "division by zero",
            "note: std is 0",
            "help: clamp it; with 1e-6",
        ]


def test_places_are_uri_references_with_lines_from_one() -> None:
    results = the_run(a_verdict("my data/über.py", "/lab/a.py", "C:\\lab\\a b.py"))["results"]
    uris = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results]
    assert uris == ["my%20data/%C3%BCber.py", "file:///lab/a.py", "file:///C:/lab/a%20b.py"]
    first = results[0]
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 7, "snippet": {"text": "    x / std"}}
    assert "region" not in first["relatedLocations"][0]["physicalLocation"]
    assert first["relatedLocations"][0]["message"]["text"] == "seen here"


def test_what_is_not_explained_is_a_notification() -> None:
    invocation = the_run(a_verdict())["invocations"][0]
    assert invocation["executionSuccessful"] is True
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "not explained: KeyError: x"


def test_a_healthy_run_has_no_results() -> None:
    run = the_run(Verdict(outcome="healthy", info=RunInfo()))
    assert run["results"] == []
    assert "toolExecutionNotifications" not in run["invocations"][0]
