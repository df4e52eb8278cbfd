"""Rules about data, loaders, modules, checkpoints and Python slips, on hand-made crashes."""

from __future__ import annotations

from pathlib import Path

import pytest

import torchmedic
from torchmedic.facts import (
    ChildDeath,
    Crash,
    EmptyFilter,
    FileAtCrash,
    Frame,
    Location,
    MissingKey,
    NoneOrigin,
    Observation,
    RefetchedSample,
    Run,
    SampleField,
    SourceFile,
)
from torchmedic.findings import Diagnosis
from torchmedic.rules.errors._checkpoints import compressed, prefix_difference
from torchmedic.triage import examine

LOADER = Location(file="train.py", line=37, source="loader = DataLoader(data, batch_size=3)")
LINE = Location(file="train.py", line=40, function="<module>", source="for batch in loader:")


def a_crash(message: str, exception: str = "RuntimeError", at: Location = LINE, **more: object) -> Crash:
    return Crash(exception=exception, message=message, frames=(Frame(location=at, is_user=True),), **more)  # type: ignore[arg-type]


def a_batch(**facts: object) -> RefetchedSample:
    given: dict[str, object] = {"dataset": "Tunes", "loader_built": LOADER, "indices": (4, 7, 9), "num_workers": 2}
    return RefetchedSample(**{**given, **facts})  # type: ignore[arg-type]


def the_diagnosis(*seen: Observation) -> Diagnosis:
    found = examine(Run(observations=seen)).diagnoses
    assert found, "silence"
    return found[0]


def the_codes(*seen: Observation) -> list[str]:
    return [d.code for d in examine(Run(observations=seen)).diagnoses]


def test_unequal_samples_point_at_the_loader_and_name_the_odd_sample() -> None:
    # GIVEN a worker's words about storage, and the same samples fetched again
    crash = a_crash("Caught RuntimeError in DataLoader worker process 0.\nOriginal … storage that is not resizable")
    field = SampleField(path="['ids']", problem="shape", forms=("int64[12]", "int64[7]", "int64[12]"))
    seen = a_batch(
        stage="collate", failed=True, fields=(field,), crash=a_crash("stack expects each tensor to be equal size")
    )
    # WHEN it is examined
    found = the_diagnosis(crash, seen)
    # THEN
    assert (found.code, found.where, found.culprit.sample) == ("ERR030", LOADER, 7)
    assert "sample 7 is int64[7], the other 2 are int64[12]" in found.evidence[0]
    assert any("collate_fn" in remedy.title for remedy in found.remedies)


def test_unequal_samples_stay_silent_when_the_fields_agree() -> None:
    crash = a_crash("stack expects each tensor to be equal size, but got [3] at entry 0 and [4] at entry 1")
    assert "ERR030" not in the_codes(crash, a_batch())


def test_none_is_not_called_an_unknown_class() -> None:
    crash = a_crash("default_collate: batch must contain tensors …; found <class 'NoneType'>", "TypeError")
    field = SampleField(path="sample", problem="none", forms=("float32[3]", "None", "float32[3]"))
    found = the_diagnosis(crash, a_batch(stage="collate", failed=True, fields=(field,), crash=crash))
    assert (found.code, found.culprit.sample) == ("ERR032", 7)


def test_a_worker_error_is_told_with_its_index_unless_a_rule_knows_it() -> None:
    outer = a_crash("Caught ValueError in DataLoader worker process 1.\nOriginal Traceback …", "ValueError")
    inner = a_crash("could not convert string to float: 'n/a'", "ValueError")
    found = the_diagnosis(outer, a_batch(stage="dataset", failed=True, index=7, crash=inner))
    assert found.code == "ERR033"
    assert "sample 7" in found.headline


def test_a_key_error_in_a_worker_is_explained_by_the_key_alone() -> None:
    outer = a_crash("Caught KeyError in DataLoader worker process 1.\nOriginal Traceback …", "KeyError")
    inner = a_crash("'labels'", "KeyError")
    key = MissingKey(container="row", type="dict", key="'labels'", near=("'label'",), keys=("'label'",), count=1)
    assert the_codes(outer, key, a_batch(stage="dataset", failed=True, index=7, crash=inner)) == ["ERR040"]


@pytest.mark.parametrize(
    ("number", "word"), [(7, "shared memory ran out"), (9, "memory ran out")], ids=["bus error", "killed"]
)
def test_a_dead_worker_whose_samples_are_good_is_told_by_its_signal(number: int, word: str) -> None:
    crash = a_crash("DataLoader worker (pid 12) is killed by signal: …")
    seen = a_batch(worker_signal=number, worker_exit=-number, shared_memory_free=2**20, shared_memory_total=2**26)
    found = the_diagnosis(crash, seen)
    assert found.code == "ERR034"
    assert word in found.headline
    assert found.confidence == "likely"
    assert found.ruled_out


def test_spawned_workers_that_die_at_once_lack_a_guard_only_if_there_is_none() -> None:
    crash = a_crash(
        "DataLoader worker (pid(s) 12) exited unexpectedly", at=Location(file="t.py", line=2, function="<module>")
    )
    seen = a_batch(worker_exit=1, start_method="spawn")
    bare = SourceFile(file="t.py", text="import torch\nfor b in loader:\n    pass\n")
    guarded = SourceFile(file="t.py", text="if __name__ == '__main__':\n    run()\n")
    assert the_codes(crash, seen, bare) == ["ERR035"]
    assert "ERR035" not in the_codes(crash, seen, guarded)


def test_a_filter_is_blamed_only_for_a_crash_of_emptiness() -> None:
    filtered = EmptyFilter(
        where=Location(file="train.py", line=9),
        operation="__getitem__",
        table="df",
        rows=50,
        conditions=(("df.a > 1", 20), ("df.b == 'x'", 0)),
        still_held=True,
    )
    empty = a_crash("num_samples should be a positive integer value, but got num_samples=0", "ValueError")
    found = the_diagnosis(empty, filtered)
    assert (found.code, found.where) == ("ERR038", filtered.where)
    assert "`df.a > 1` leaves 20; `df.b == 'x'` leaves 0" in found.evidence[0]
    other = a_crash("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)")
    assert "ERR038" not in the_codes(other, filtered)


def test_a_forward_without_return_is_where_the_edit_belongs() -> None:
    end = Location(file="net.py", line=20, function="Net.forward")
    made = NoneOrigin(expression="out", maker="Net.forward", maker_defined=LINE, maker_end=end, returns=0)
    crash = a_crash("'NoneType' object has no attribute 'backward'", "AttributeError")
    found = the_diagnosis(crash, made)
    assert (found.code, found.where) == ("ERR048", end)


def test_an_attribute_that_is_set_below_an_if_points_at_the_constructor_call() -> None:
    lines = ("class Net:", "    def __init__(self, aux=False):", "        if aux:", "            self.head = 1", "")
    text = "\n".join((*lines, "net = Net()", "net.head"))
    at = Location(file="t.py", line=7, function="<module>", source="net.head")
    crash = a_crash("'Net' object has no attribute 'head'", "AttributeError", at=at)
    found = the_diagnosis(crash, SourceFile(file="t.py", text=text))
    assert found.where is not None
    assert (found.code, found.where.line) == ("ERR043", 6)
    assert "aux=True" in found.remedies[0].title


def test_an_unknown_attribute_without_near_names_is_left_alone() -> None:
    assert the_codes(a_crash("'Net' object has no attribute 'zzz'", "AttributeError")) == []


STATE = "Error(s) in loading state_dict for Net:\n\t"


def test_prefix_wins_over_mismatch() -> None:
    message = (
        STATE
        + 'Missing key(s) in state_dict: "a.w", "b.w". \n\t'
        + 'Unexpected key(s) in state_dict: "module.a.w", "module.b.w". '
    )
    found = the_diagnosis(a_crash(message))
    assert found.code == "ERR051"
    assert "`module.`" in found.headline


def test_a_shape_mismatch_is_told_with_layer_and_shapes() -> None:
    message = STATE + (
        "size mismatch for fc.weight: copying a param with shape torch.Size([10, 64]) from checkpoint, "
        "the shape in current model is torch.Size([5, 64])."
    )
    found = the_diagnosis(a_crash(message))
    assert found.code == "ERR053"
    assert found.headline == "`fc.weight` is [10, 64] in the checkpoint and [5, 64] in the model"


@pytest.mark.parametrize(
    ("longer", "shorter", "prefix"),
    [
        (["module.a", "module.b"], ["a", "b"], "module."),
        (["x.y.a.w", "x.y.b.w"], ["a.w", "b.w"], "x.y."),
        (["head.weight"], ["tail.weight"], ""),
        ([], ["a"], ""),
    ],
)
def test_prefix_difference(longer: list[str], shorter: list[str], prefix: str) -> None:
    assert prefix_difference(longer, shorter) == prefix


def test_long_key_lists_are_compressed() -> None:
    keys = [f"encoder.{i}.weight" for i in range(30)] + ["head.weight", "head.bias"]
    assert compressed(keys) == "encoder.* (30 keys), head.{weight, bias}"


def test_weights_only_is_never_switched_off_as_a_cure() -> None:
    crash = a_crash("Weights only load failed … GLOBAL argparse.Namespace was not an allowed global", "UnpicklingError")
    found = the_diagnosis(crash)
    assert found.code == "ERR054"
    assert all("weights_only=False" not in remedy.title for remedy in found.remedies)


def test_a_cut_checkpoint_is_told_by_its_bytes() -> None:
    file = FileAtCrash(path="a.pt", exists=True, size=900, beginning="PK\x03\x04")
    found = the_diagnosis(a_crash("PytorchStreamReader failed reading zip archive"), file)
    assert (found.code, found.confidence) == ("ERR055", "proven")


def test_a_kill_is_told_with_the_memory_it_had() -> None:
    found = the_diagnosis(ChildDeath(signal=9, name="SIGKILL", peak_memory=3 * 2**30, last_seen=LINE))
    assert (found.code, found.where) == ("ERR060", LINE)
    assert "3.0 GB" in found.evidence[0]


def test_a_native_crash_points_at_the_thread_that_crashed() -> None:
    stack = (
        "Fatal Python error: Segmentation fault",
        "Thread 0x1 (most recent call first):",
        '  File "/lib/python3.11/threading.py", line 331 in wait',
        "",
        "Current thread 0x2 (most recent call first):",
        '  File "/x/site-packages/ext/__init__.py", line 5 in run',
        '  File "train.py", line 12 in step',
    )
    found = the_diagnosis(ChildDeath(signal=11, name="SIGSEGV", native_stack=stack))
    assert found.where is not None
    assert (found.code, found.where.line) == ("ERR061", 12)
    assert "`run`" in found.headline


def test_a_native_crash_does_not_point_at_our_own_files() -> None:
    ours = Path(torchmedic.__file__).parent / "record.py"
    stack = (
        "Current thread 0x2 (most recent call first):",
        f'  File "{ours}", line 152 in emit',
        '  File "train.py", line 12 in step',
    )
    found = the_diagnosis(ChildDeath(signal=6, name="SIGABRT", native_stack=stack))
    assert found.where is not None
    assert (found.where.file, found.where.line) == ("train.py", 12)
    assert "emit" not in found.headline


TRIED = Location(file="train.py", line=7, function="main", source="net.load_state_dict(torch.load(path))")
HANDLED = Location(file="train.py", line=9, function="main", source='print("no", args.resume_path)')
KEYS = """Error(s) in loading state_dict for Linear:
\tMissing key(s) in state_dict: "weight", "bias".
\tUnexpected key(s) in state_dict: "w"."""


def test_a_handler_that_fails_itself_is_told_with_what_it_handled() -> None:
    # GIVEN a checkpoint that does not fit, and a slip in the block that handles that
    lacks = "'Namespace' object has no attribute 'resume_path'"
    first = a_crash(KEYS, at=TRIED)
    slip = a_crash(lacks, "AttributeError", at=HANDLED, cause=first, handling=True, near_names=("resume",))
    # WHEN it is examined, THEN both are told, each with a note of the other
    handler, load = examine(Run(observations=(slip,))).diagnoses
    assert (handler.code, load.code) == ("ERR043", "ERR052")
    assert "it came up while `RuntimeError` at train.py:7 was handled" in handler.evidence[-1]
    assert load.evidence[-1] == "while this was handled, `AttributeError` at train.py:9 ended the script"


def test_a_second_attempt_that_fails_too_has_the_first_as_a_note() -> None:
    again = a_crash(KEYS.replace("Linear", "Net"), at=HANDLED, cause=a_crash(KEYS, at=TRIED), handling=True)
    (found,) = examine(Run(observations=(again,))).diagnoses
    assert found.where == HANDLED
    assert "was handled" in found.evidence[-1]


def test_what_a_wrapped_exception_says_is_told_where_the_wrapper_is_unknown() -> None:
    wrapper = a_crash("cannot resume", "ValueError", at=HANDLED, cause=a_crash(KEYS, at=TRIED))
    (found,) = examine(Run(observations=(wrapper,))).diagnoses
    assert (found.code, found.where) == ("ERR052", TRIED)
    assert found.evidence[-1] == "`ValueError` at train.py:9 was raised from it"


def test_an_exception_that_a_library_handled_is_not_told() -> None:
    inside = Location(file="/site-packages/lib/io.py", line=3, function="read", source="return table[key]")
    hidden = Crash(exception="RuntimeError", message=KEYS, frames=(Frame(location=inside),))
    slip = a_crash("name 'los' is not defined", "NameError", cause=hidden, handling=True, near_names=("loss",))
    (found,) = examine(Run(observations=(slip,))).diagnoses
    assert found.code == "ERR044"
    assert not any("handled" in note for note in found.evidence)


@pytest.mark.parametrize(
    "message",
    [
        "partially initialized module 'sizes' has no attribute 'BOXES' (most likely due to a circular import)",
        "partially initialized module 'sizes' from '/w/sizes.py' has no attribute 'BOXES' (most likely due to …)",
        "module 'sizes' has no attribute 'BOXES' (consider renaming '/w/sizes.py' if it has the same name as …)",
    ],
)
def test_a_circle_of_imports_is_told_in_the_words_of_each_python(message: str) -> None:
    # GIVEN two files that import each other
    files = ("train.py", "sizes.py", "heads.py")
    frames = tuple(Frame(location=Location(file=file, line=1, source="import x"), is_user=True) for file in files)
    # WHEN the second lacks a name that it has not made yet THEN both are named, whatever Python advises
    assert the_codes(Crash(exception="AttributeError", message=message, frames=frames)) == ["ERR104"]


@pytest.mark.parametrize(
    ("exception", "message"),
    [
        ("TypeError", "unhashable type: 'slice'"),
        ("KeyError", "slice(None, 2, None)"),
        ("KeyError", "(slice(None, None, None), 0)"),
    ],
)
def test_a_sliced_dictionary_is_told_in_the_words_of_each_python(exception: str, message: str) -> None:
    # GIVEN a dictionary that was sliced; a slice is a key like others since Python 3.12
    crash = a_crash(message, exception, Location(file="train.py", line=7, source="first = weights[:2]"))
    there = MissingKey(container="weights", type="dict", key=message, key_type="slice", keys=("'a'",), count=1)
    # WHEN it is examined THEN it is said to have no slices, and not to lack a key
    assert the_codes(crash, there) == ["ERR102"]
