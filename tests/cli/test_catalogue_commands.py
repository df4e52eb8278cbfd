"""`rules`, `symptoms` and `explain CODE` tell what the rules themselves say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.typed import typed
from torchmedic.cli.symptoms import matching
from torchmedic.findings import Symptom
from torchmedic.rules import catalogue


def test_rules_lists_every_rule() -> None:
    answer = typed("rules")
    assert answer.status == 0
    for rule in catalogue():
        assert rule.code in answer.out
        assert rule.name in answer.out
    assert f"{len(catalogue())} rules" in answer.out


def test_rules_as_json_goes_to_a_file_or_to_the_screen(tmp_path: Path) -> None:
    assert typed("rules", "--json", str(tmp_path / "rules.json")).status == 0
    plain = json.loads((tmp_path / "rules.json").read_text())
    assert [rule["code"] for rule in plain["rules"]] == [rule.code for rule in catalogue()]
    assert json.loads(typed("rules", "--json", "-").out) == plain


def test_symptoms_is_many_to_many() -> None:
    answer = typed("symptoms", "--json", "-")
    table = {row["symptom"]: [rule["code"] for rule in row["rules"]] for row in json.loads(answer.out)["symptoms"]}
    for rule in catalogue():
        for symptom in rule.symptoms:
            assert rule.code in table[symptom.value]
    assert max(len(codes) for codes in table.values()) > 1


def test_symptoms_says_how_to_tell_causes_apart() -> None:
    answer = typed("symptoms", "import fails")
    assert "an import fails" in answer.out
    assert "ENV009 missing-module" in answer.out
    assert "the loss is 0" not in answer.out


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("loss is nan", "LOSS_NAN"),
        ("My loss turned into NaN!!", "LOSS_NAN"),
        ("the loss doesn't decrease", "LOSS_FLAT"),
        ("CUDA oom", "MEMORY_GROWS"),
        ("weights are not updated", "WEIGHTS_STILL"),
        ("startup takes very long and is slow", "SLOW_START"),
        ("negative loss", "LOSS_NEGATIVE"),
    ],
)
def test_symptoms_are_found_in_the_users_own_words(words: str, wanted: str) -> None:
    assert wanted in [symptom.name for symptom in matching(words, list(Symptom))]


def test_an_unknown_symptom_is_one_line_and_exit_2() -> None:
    answer = typed("symptoms", "purple elephants")
    assert answer.status == 2
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("wanted", ["ENV009", "env009", "missing-module"])
def test_explain_shows_the_page(wanted: str) -> None:
    answer = typed("explain", wanted)
    assert answer.status == 0
    assert "missing-module (ENV009)" in answer.out
    assert "How it is detected" in answer.out
    assert "```" not in answer.out


def test_explain_knows_a_code_that_a_rule_had_before() -> None:
    answer = typed("explain", "RNK009")
    assert answer.out.startswith("RNK009 is called WIR092 now")
    assert "bypassed-wrapper (WIR092)" in answer.out
    assert json.loads(typed("explain", "rnk009", "--json", "-").out)["rule"]["code"] == "WIR092"


def test_explain_as_json_holds_the_page() -> None:
    plain = json.loads(typed("explain", "ENV009", "--json", "-").out)
    assert plain["rule"]["code"] == "ENV009"
    assert plain["rule"]["page"].startswith("# missing-module (ENV009)")


def test_an_unknown_code_names_the_nearest() -> None:
    answer = typed("explain", "ENV01")
    assert answer.status == 2
    assert "near: ENV01" in answer.err


@pytest.mark.parametrize("word", ["NUM", "num", "numerics"])
def test_rules_of_one_family(word: str) -> None:
    answer = typed("rules", word, "--json", "-")
    assert {rule["family"] for rule in json.loads(answer.out)["rules"]} == {"numerics"}


def test_an_unknown_family_is_one_line() -> None:
    answer = typed("rules", "xyz")
    assert answer.status == 2
    assert "no such family; known: numerics (NUM)" in answer.err
    assert answer.err.count("\n") == 1
