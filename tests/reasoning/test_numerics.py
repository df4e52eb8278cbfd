"""Rules about non-finite numbers, on hand-made facts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from torchmedic.facts import (
    Birth,
    Growth,
    Location,
    Observation,
    Operand,
    OpFact,
    OptimizerSeen,
    Origin,
    Run,
    SickStep,
    Source,
    StateLoaded,
    TensorSummary,
    Trial,
)
from torchmedic.findings import Diagnosis
from torchmedic.triage import examine

LINE = Location(file="train.py", line=12, function="<module>", source="    y = f(x)")
STEP_LINE = Location(file="train.py", line=30, function="<module>", source="    loss.backward()")


def a_tensor(low: float | None = None, high: float | None = None, **more: object) -> TensorSummary:
    given: dict[str, object] = {"shape": (8,), "dtype": "float32", "minimum": low, "maximum": high, **more}
    return TensorSummary(**given)  # type: ignore[arg-type]


def an_operand(name: str, low: float, high: float, *made_by: str, **more: object) -> Operand:
    return Operand(name=name, tensor=a_tensor(low, high, **more), made_by=made_by)


def an_op(op: str, *operands: Operand, expression: str = "f(x)", **more: object) -> OpFact:
    given: dict[str, object] = {
        "op": op,
        "phase": "forward",
        "where": LINE,
        "expression": expression,
        "operands": operands,
        "result": a_tensor(nan=1, inf=0),
        "bad": 1,
        "index": (3,),
        "makes_nan": True,
        **more,
    }
    return OpFact(**given)  # type: ignore[arg-type]


def a_sick_run(op: OpFact | None, *more: Observation, what: str = "loss", **origin: object) -> Run:
    sick = SickStep(step=5, what=what, loss=float("nan"), backward_at=STEP_LINE, reproduced=True, way="run again")
    found = () if op is None else (Origin(step=5, op=op, **origin),)  # type: ignore[arg-type]
    return Run(observations=(*found, sick, *more))


def diagnoses(run: Run) -> list[Diagnosis]:
    verdict = examine(run)
    assert not verdict.unexplained
    return [d for d in verdict.diagnoses if d.severity == "error"]


def backward(op: str, forward: str, operand: Operand, **more: object) -> OpFact:
    return an_op(op, an_operand("", 0, 1), phase="backward", forward_op=forward, forward_operands=(operand,), **more)


@pytest.mark.parametrize(
    ("op", "code"),
    [
        (an_op("aten.log.default", an_operand("p", 0, 1)), "NUM002"),
        (an_op("aten.log.default", an_operand("p", -0.5, 1)), "NUM002"),
        (an_op("aten.div.Tensor", an_operand("a", 1, 2), an_operand("b", 0, 3, zeros=1)), "NUM003"),
        (an_op("aten.div.Tensor", an_operand("a", 1, 2), an_operand("b", 0, 3, "std", zeros=1)), "NUM004"),
        (an_op("aten.div.Tensor", an_operand("a", 1, 2), an_operand("n", 0, 3, "linalg_vector_norm")), "NUM033"),
        (an_op("aten.div.Tensor", an_operand("a", 1, 2), an_operand("mask.sum(1)", 0, 3, "sum")), "NUM034"),
        (an_op("aten.div.Tensor", an_operand("a", 1, 2), an_operand("top", 0, 3, "amax")), "NUM032"),
        (backward("aten.div.Tensor", "aten.sqrt.default", an_operand("v", 0, 3)), "NUM006"),
        (backward("aten.rsqrt.default", "aten.acos.default", an_operand("c", 0, 1)), "NUM007"),
        (backward("aten.mul.Tensor", "aten._linalg_svd.default", an_operand("m", 0, 1)), "NUM018"),
        (backward("aten.div.Tensor", "aten.div.Tensor", an_operand("b", 1e-25, 1)), "NUM035"),
        (an_op("aten.exp.default", an_operand("z", -3, 102)), "NUM010"),
        (an_op("aten.sqrt.default", an_operand("v", -1e-7, 3)), "NUM020"),
        (an_op("aten.pow.Tensor_Scalar", an_operand("v", -2, 3), scalars=(0.5,)), "NUM019"),
        (an_op("aten.pow.Tensor_Scalar", an_operand("deg", 0, 3, zeros=2), scalars=(-0.5,)), "NUM021"),
        (an_op("aten.mean.default", Operand(name="x[m]", tensor=a_tensor(shape=(0,)))), "NUM015"),
        (an_op("aten._ctc_loss.default", an_operand("frames", -9, 0)), "NUM017"),
        (an_op("aten.lgamma.default", an_operand("k", 0, 3)), "NUM031"),
        (an_op("aten.cumprod.default", an_operand("k", 0, 3)), "NUM001"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.forward_op or value.op,
)
def test_one_rule_explains_an_operation(op: OpFact, code: str) -> None:
    found = diagnoses(a_sick_run(op))
    assert [d.code for d in found] == [code]
    assert found[0].where == LINE


def test_a_branch_not_taken_is_told_from_what_it_computes() -> None:
    op = an_op("aten.exp.default", an_operand("z", -3, 102), absorbed_by="where", absorbed_at=LINE, makes_nan=False)
    assert [d.code for d in diagnoses(a_sick_run(op, what="gradient"))] == ["NUM008"]
    assert [d.code for d in diagnoses(a_sick_run(op, what="loss"))] == ["NUM010"]


def test_a_mask_that_covers_a_row_is_told_from_the_softmax() -> None:
    op = an_op("aten._softmax.default", an_operand("scores", -1, 1, inf=8))
    placed = an_op("aten.masked_fill.Scalar", an_operand("scores", -1, 1))
    assert [d.code for d in diagnoses(a_sick_run(op, placed=placed))] == ["NUM013"]


def test_trials_become_verified_remedies_and_exclusions() -> None:
    op = an_op("aten.log.default", an_operand("p", 0, 1))
    cure = Trial(
        step=5, suspect="argument of the logarithm", change="`p.clamp_min(1e-8)`", helps=True, loss=0.7, is_cure=True
    )
    vain = Trial(step=5, suspect="float32 precision", change="that call in float64", helps=False)
    found = diagnoses(a_sick_run(op, cure, vain))[0]
    assert found.remedies[0].verified
    assert found.remedies[0].detail == "tried on the failing step: loss 0.7, all gradients finite"
    assert {"float64", "learning rate"} <= {r.suspect for r in found.ruled_out}


def test_the_learning_rate_is_not_ruled_out_when_the_weights_grew() -> None:
    op = an_op("aten.mm.default", an_operand("x", 0, 1e30), result=a_tensor(nan=0, inf=1), makes_nan=False)
    grown = Growth(name="fc.weight", values=(1.0, 40.0, 9000.0))
    built = replace(LINE, line=9)
    run = a_sick_run(op, growth=(grown,), learning_rate=0.5, optimizer="SGD", optimizer_built=built)
    found = diagnoses(run)[0]
    assert (found.code, found.where) == ("NUM025", built)
    assert "learning rate" not in {r.suspect for r in found.ruled_out}
    assert "fc.weight" in found.headline


def a_birth(line: int, expression: str, operator: str, *operands: Operand, **more: object) -> Birth:
    given: dict[str, object] = {
        "where": replace(LINE, line=line, source=expression),
        "variable": "z",
        "holder": "table",
        "columns": ("flow",),
        "rows": ("3",),
        "bad": 1,
        "nan": 1,
        "total": 9,
        "expression": expression,
        "operator": operator,
        "operands": operands,
        **more,
    }
    return Birth(**given)  # type: ignore[arg-type]


SOURCE = Source(origin="batch", name="batch[0]", tensor=a_tensor(nan=1), rows=(3,), row_count=1, value="nan")
READ = an_op("aten.addmm.default", result=None, bad=0)


@pytest.mark.parametrize(
    ("birth", "code"),
    [
        (a_birth(4, "z = (x - mean) / std", "/", zero_at=("std: flow",)), "NUM004"),
        (a_birth(4, "z = (x - k.map(mean)) / k.map(std)", "/ map"), "NUM005"),
        (a_birth(4, "z = pd.read_csv(path)", "read_csv", was_read=True), "DAT031"),
        (a_birth(4, "z = a.merge(b, how='left')", "merge"), "DAT032"),
        (a_birth(4, "z['lag'] = z['x'].shift(1)", "shift"), "DAT033"),
        (a_birth(4, "z = np.log(x)", "log"), "DAT034"),
        (a_birth(4, "z = a / b", "/"), "DAT035"),
        (a_birth(4, "z = pd.to_numeric(x, errors='coerce')", "to_numeric"), "DAT037"),
        (a_birth(4, "z = np.exp(x)", "exp", nan=0), "DAT038"),
        (a_birth(4, "z = mystery(x)", "mystery"), "DAT030"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.expression,
)
def test_the_line_of_preparation_wins_over_the_operation_that_read_it(birth: Birth, code: str) -> None:
    found = diagnoses(a_sick_run(READ, birth, source=SOURCE))
    assert [(d.code, d.where) for d in found] == [(code, birth.where)]


def test_lines_that_pass_bad_values_on_are_not_their_birth() -> None:
    spoiled = Operand(name="table", tensor=a_tensor(nan=4))
    passing = a_birth(2, "z = np.stack(table)", "stack", spoiled)
    header = a_birth(3, "", "DataLoader")
    real = a_birth(8, "z = np.log(x)", "log")
    found = diagnoses(a_sick_run(READ, passing, header, real, source=SOURCE))
    assert [(d.code, d.where.line if d.where else 0) for d in found] == [("DAT034", 8)]


def test_a_bad_column_is_followed_through_joins_to_the_line_that_made_it() -> None:
    """Rows of a table of groups have labels of their own: only what they were joined to holds the sample."""
    of_groups = a_birth(4, "of_groups = frame.groupby('site').std()", "groupby std", rows=("99",))
    joined = a_birth(7, "z = frame.merge(summary(frame))", "merge summary", rows=("40",))
    scaled = a_birth(8, "z['ratio'] = z['x'] / z['flow']", "/", columns=("flow", "ratio"), rows=("40",))
    read_back = a_birth(9, "z = torch.from_numpy(values)", "from_numpy", columns=("0",), rows=("40",))
    run = a_sick_run(READ, of_groups, joined, scaled, read_back, source=replace(SOURCE, sample=40))
    (found,) = diagnoses(run)
    assert found.where == of_groups.where


def test_masks_written_as_infinity_are_no_birth() -> None:
    mask = a_birth(2, "mask = torch.full((4, 4), float('-inf'))", "full float", nan=0)
    found = diagnoses(a_sick_run(READ, mask, source=SOURCE))
    assert [(d.code, d.where) for d in found] == [("DAT030", LINE)]


@pytest.mark.parametrize(
    ("sick", "code"),
    [
        (SickStep(step=3, what="learning-rate", learning_rate="nan", optimizer="SGD", backward_at=LINE), "NUM027"),
        (SickStep(step=3, what="update", bad_parameters=("w",), parameters=2, backward_at=LINE), "NUM028"),
        (SickStep(step=3, what="scaler", scale=0.25, backward_at=LINE, way="no loop in sight"), "NUM029"),
        (SickStep(step=3, what="loss", backward_at=LINE, way="the loop's own body was run again"), "NUM030"),
        (SickStep(step=3, what="loss", backward_at=LINE, way="no loop in sight"), "NUM001"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.what,
)
def test_a_step_without_an_origin_is_told_by_what_was_seen(sick: SickStep, code: str) -> None:
    assert [d.code for d in diagnoses(Run(observations=(sick,)))] == [code]


def a_bad_weight(*more: Observation, **counted: int) -> Diagnosis:
    source = Source(origin="parameter", name="head.weight", tensor=a_tensor(device="cuda:0", **counted), value="nan")
    [said] = diagnoses(a_sick_run(an_op("aten.addmm.default"), *more, source=source))
    assert said.code == "NUM024"
    return said


def test_a_weight_that_went_bad_after_healthy_steps_points_at_the_update() -> None:
    step = Location(file="train.py", line=31, source="    optimizer.step()")
    said = a_bad_weight(
        OptimizerSeen(type="Adam", stepped=step, names=("head.weight",)), StateLoaded(model="Net", step=0)
    )
    assert said.where == step
    assert "after step 4" in said.headline
    assert "0 values" not in " ".join((said.headline, *said.evidence))
    assert not any("load" in r.title or "initialise" in r.title for r in said.remedies)


def test_an_optimizer_of_the_users_own_is_named_by_its_update() -> None:
    update = Location(file="lars.py", line=9, function="Lars.step", source="    def step(self):")
    said = a_bad_weight(OptimizerSeen(type="Lars", stepped=STEP_LINE, defined=update, names=("head.weight",)))
    assert said.where == update
    assert "Lars" in said.label


def test_weights_loaded_just_before_the_step_are_to_blame() -> None:
    loaded = StateLoaded(model="Net", where=LINE, step=4)
    said = a_bad_weight(loaded, nan=3)
    assert said.where == LINE
    assert said.headline.endswith("before step 5: 3 values")
