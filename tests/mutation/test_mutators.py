"""The mutators know what they did: the guilty lines are the changed ones, and mutants are valid Python."""

from __future__ import annotations

import ast

import pytest

from bench.mutation.catalogue import HEALTHY, mutants, sample
from bench.mutation.running import Heard, is_as_good, is_harmless, judge
from bench.mutation.script import MARK, MUTATORS, Mutant, Script

ALL = mutants()


def test_there_are_many_mutators_with_different_names() -> None:
    names = [mutator.name for mutator in MUTATORS]
    assert len(names) >= 30
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("mutator", [mutator.name for mutator in MUTATORS])
def test_every_mutator_fits_a_healthy_script_and_knows_a_line_of_it(mutator: str) -> None:
    made = [mutant for mutant in ALL if mutant.mutator == mutator]
    assert made
    for mutant in made:
        ast.parse(mutant.source)
        assert MARK not in mutant.source
        assert mutant.lines
        assert mutant.source != (HEALTHY / f"{mutant.script}.py").read_text()


def test_a_sample_is_the_same_for_the_same_seed_and_visits_every_mutator() -> None:
    chosen = sample(ALL, len(MUTATORS), seed=3)
    assert chosen == sample(ALL, len(MUTATORS), seed=3)
    assert {m.mutator for m in chosen} == {m.name for m in MUTATORS}


def test_marked_lines_are_counted_after_all_edits() -> None:
    script = Script("toy", "a = 1\nb = 2\nc = 3\n")
    first, second, third = script.tree.body
    edited = script.apply([script.delete(first), script.after(second, f"{MARK}x = 0"), script.mark(third)])
    assert edited == ("b = 2\nx = 0\nc = 3\n", frozenset({2, 3}))


def _mutant(is_tuning: bool = False) -> Mutant:
    return Mutant("m", "toy", "", frozenset({4}), ("WIR014",), is_tuning)


@pytest.mark.parametrize(
    ("code", "line", "verdict"),
    [("WIR014", 4, "exact"), ("WIR014", 5, "cause"), ("TRN001", 4, "line"), ("TRN001", 5, "found"), ("", 0, "silent")],
)
def test_a_first_diagnosis_is_judged_by_code_and_line(code: str, line: int, verdict: str) -> None:
    assert judge(_mutant(), Heard(code=code, line=line)).verdict == verdict


def test_a_silent_mutant_with_the_same_output_is_harmless() -> None:
    assert is_harmless(_mutant(), Heard(output="final loss 0.5"), Heard(output="final loss 0.5"))
    assert not is_harmless(_mutant(), Heard(output="final loss 0.51"), Heard(output="final loss 0.5"))


def test_another_choice_is_harmless_when_the_last_figure_is_as_good() -> None:
    healthy = Heard(output="epoch 1\nfinal test accuracy 0.950")
    assert is_harmless(_mutant(is_tuning=True), Heard(output="final test accuracy 0.940"), healthy)
    assert not is_harmless(_mutant(is_tuning=True), Heard(output="final test accuracy 0.600"), healthy)


def test_figures_that_are_better_when_lower_are_told_by_their_words() -> None:
    assert is_as_good("final test mse 0.0103 (variance 1.0)", "final test mse 0.0100 (variance 1.0)")
    assert not is_as_good("final test mse 0.0500 (variance 1.0)", "final test mse 0.0100 (variance 1.0)")
