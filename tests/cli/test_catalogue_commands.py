"""`rules`, `symptoms` and `explain CODE` tell what the rules themselves say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.typed import typed
from torchmedic.cli._common_causes import COMMONEST
from torchmedic.cli.symptoms import _table, matching
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
        ("the loss stays flat", "LOSS_FLAT"),
    ],
)
def test_symptoms_are_found_in_the_users_own_words(words: str, wanted: str) -> None:
    assert wanted in [symptom.name for symptom in matching(words, list(Symptom))]


def test_an_unknown_symptom_is_one_line_and_exit_2() -> None:
    answer = typed("symptoms", "purple elephants")
    assert answer.status == 2
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("words", [s.value for s in Symptom] + ["nan", "", "loss"])
def test_a_symptom_fits_a_screen(words: str) -> None:
    answer = typed("symptoms", *words.split()).out
    assert len(answer.splitlines()) <= 24
    assert max(map(len, answer.splitlines())) <= 100


def test_the_commonest_causes_come_first_and_all_on_request() -> None:
    brief, whole = typed("symptoms", "nan").out, typed("symptoms", "--all", "nan").out
    many = next(len(rules) for symptom, rules in _table().items() if symptom is Symptom.LOSS_NAN)
    assert f"{many} causes, the commonest first" in brief
    shown = re.findall(r"^  ([A-Z]{3}\d{3}) ", brief, re.MULTILINE)
    assert shown == list(COMMONEST[Symptom.LOSS_NAN][: len(shown)])
    assert len(shown) >= 7
    assert f"{many - len(shown)} more causes: `torchmedic symptoms --all nan`" in brief
    assert "also like it: weights are NaN or infinite" in brief
    codes = re.findall(r"^  ([A-Z]{3}\d{3}) ", whole.partition("weights are NaN")[0], re.MULTILINE)
    assert len(codes) == many
    assert whole.splitlines()[1].startswith("  DAT030")


def test_the_commonest_causes_are_causes_of_their_symptom() -> None:
    for symptom, rules in _table().items():
        known = {rule.code for rule in rules}
        assert set(COMMONEST.get(symptom, ())) <= known, symptom
        assert len(rules) <= 12 or len(set(COMMONEST[symptom])) == 10, symptom


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
