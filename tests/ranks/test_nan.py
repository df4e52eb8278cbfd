"""A NaN of one sample on one rank of four: named by rank, sample and line; no rank skips alone."""

from __future__ import annotations

from pathlib import Path

from tests.running import run_watched

SCRIPTS = Path(__file__).parent / "scripts"


def test_the_rank_the_sample_and_the_line_of_a_nan_are_named_and_weights_stay_equal() -> None:
    watched = run_watched(SCRIPTS / "nan_on_one_rank.py", on_sick="skip")
    assert watched.status == 0, watched.stderr
    (diagnosis,) = [d for d in watched.verdict.diagnoses if d.severity == "error"]
    assert diagnosis.code == "NUM020"
    assert diagnosis.ranks == (1,)
    assert diagnosis.step == 6
    assert diagnosis.culprit.sample == 81
    assert diagnosis.where is not None
    assert "torch.sqrt" in diagnosis.where.source
    assert any(remedy.verified for remedy in diagnosis.remedies)
    skipped = watched.verdict.info.skipped
    assert (skipped.count, skipped.steps, skipped.samples) == (1, (6,), ())  # the sample's own values are finite
    ends = watched.stdout.splitlines()
    assert len(ends) == 4
    assert len(set(ends)) == 1, "all ranks have the same weights"
    assert ends[0].startswith("weights True")


def test_a_sick_run_of_several_ranks_is_stopped_with_one_diagnosis() -> None:
    watched = run_watched(SCRIPTS / "nan_on_one_rank.py")
    assert watched.status == 1
    assert watched.codes == ["NUM020"]
    assert watched.verdict.unexplained == ()
    assert watched.verdict.info.stopped_by_us
    assert watched.verdict.info.folder.endswith("rank1"), "what the run left is that rank's"
    assert watched.stdout == "", "no rank went on"
