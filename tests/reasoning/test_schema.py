"""The JSON contract: what `render/plain.py` writes fits `schema-1.json`, and the schema can say no."""

from __future__ import annotations

import copy
import json
import math
from importlib import resources
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchmedic.facts import Location, RunInfo
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, RuledOut, Verdict
from torchmedic.render.plain import to_json

SCHEMA: dict[str, Any] = json.loads(
    (resources.files("torchmedic.render") / "schema-1.json").read_text(encoding="utf-8")
)
_words = st.text(max_size=20)
_places = st.builds(Location, file=_words, line=st.integers(0, 10**6), function=_words, source=_words)
_culprits = st.builds(
    Culprit,
    op=st.none() | _words,
    phase=st.sampled_from([None, "forward", "backward", "optimizer", "data", "setup"]),
    sample=st.none() | st.integers(),
    index=st.none() | st.tuples(st.integers(), st.integers()),
    rows=st.none() | st.integers(),
    group=st.none() | st.dictionaries(_words, st.floats()),
    examples=st.tuples(_words),
)
_diagnoses = st.builds(
    Diagnosis,
    code=st.just("NUM004"),
    name=st.just("zero-std-division"),
    family=st.just("numerics"),
    severity=st.sampled_from(["error", "warning", "hint"]),
    confidence=st.sampled_from(["proven", "likely", "possible"]),
    headline=st.text(min_size=1, max_size=20),
    step=st.none() | st.integers(0, 10**6),
    where=st.none() | _places,
    also=st.tuples(st.builds(Also, location=_places, why=_words)),
    culprit=_culprits,
    evidence=st.tuples(_words),
    ruled_out=st.tuples(st.builds(RuledOut, suspect=_words, how=_words)),
    remedies=st.tuples(st.builds(Remedy, title=st.text(min_size=1), diff=st.none() | _words, verified=st.booleans())),
)


def a_plain_verdict() -> dict[str, Any]:
    d = Diagnosis(
        code="NUM004",
        name="zero-std-division",
        family="numerics",
        severity="error",
        confidence="proven",
        headline="x",
    )
    plain: dict[str, Any] = json.loads(to_json(Verdict(outcome="sick", info=RunInfo(), diagnoses=(d,))))
    return plain


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@given(st.lists(_diagnoses, max_size=3), st.sampled_from(["healthy", "sick", "crashed"]))
def test_every_verdict_fits(diagnoses: list[Diagnosis], outcome: Any) -> None:
    text = to_json(Verdict(outcome=outcome, info=RunInfo(), diagnoses=tuple(diagnoses), extra={"x": math.nan}))
    jsonschema.validate(json.loads(text, parse_constant=pytest.fail), SCHEMA)


def test_added_keys_are_welcome() -> None:
    jsonschema.validate(a_plain_verdict() | {"memory": {"peak": 1}}, SCHEMA)


@pytest.mark.parametrize("key", ["schema", "tool", "version", "outcome", "run", "diagnoses", "unexplained"])
def test_a_missing_key_is_refused(key: str) -> None:
    plain = a_plain_verdict()
    del plain[key]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(plain, SCHEMA)


@pytest.mark.parametrize(
    ("key", "value"), [("severity", "fatal"), ("confidence", 0.9), ("code", "XYZ1"), ("step", "3"), ("where", "a.py:3")]
)
def test_a_wrong_value_is_refused(key: str, value: object) -> None:
    plain = copy.deepcopy(a_plain_verdict())
    plain["diagnoses"][0][key] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(plain, SCHEMA)
