"""A few mutants of quick scripts get their exact diagnosis: the bench itself works, and these faults are found."""

from __future__ import annotations

import pytest

from bench.mutation.catalogue import mutants
from bench.mutation.running import judge, listen_to_mutant

ROBUST = [
    ("masked_action_logits", "zero-grad-dropped"),
    ("masked_action_logits", "zero-grad-before-step"),
    ("masked_action_logits", "rate-of-zero"),
    ("masked_action_logits", "width-that-does-not-fit"),
    ("mixture_density", "infinity-in-data"),
    ("infonce_arange", "softmax-before-cross-entropy"),
    ("infonce_arange", "labels-off-by-one"),
    ("mc_dropout_eval", "zero-grad-before-step"),
    ("partial_load_resume", "inputs-transposed"),
    ("layerdrop_checkpointed", "train-rows-as-test-rows"),
    ("hinge_reaches_zero", "method-misspelt"),
]


@pytest.mark.parametrize(("script", "mutator"), ROBUST, ids=[f"{s}-{m}" for s, m in ROBUST])
def test_a_robust_mutant_gets_its_exact_diagnosis(script: str, mutator: str) -> None:
    (mutant,) = mutants([mutator], [script])
    result = judge(mutant, listen_to_mutant(mutant))
    assert result.verdict == "exact", f"{result.verdict}: {result.heard}, expected one of {sorted(mutant.lines)}"
