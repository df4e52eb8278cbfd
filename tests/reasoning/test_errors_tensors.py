"""The tensor and autograd rules on hand-made crashes, in the wordings of several torch versions."""

from __future__ import annotations

import pytest

from torchmedic.facts import (
    Crash,
    Frame,
    Holder,
    IndexOutside,
    InplaceClash,
    LayerBuilt,
    LoaderAtCrash,
    Location,
    ModelAtCrash,
    ModuleFact,
    Observation,
    Run,
    SourceFile,
    StaleGraph,
    TensorSummary,
    Value,
)
from torchmedic.findings import Diagnosis
from torchmedic.triage import examine

LINEAR = "torch.nn.modules.linear.Linear"


def a_tensor(name: str, *shape: int, dtype: str = "float32", **form: object) -> Value:
    return Value(name=name, type="torch.Tensor", tensor=TensorSummary(shape=shape, dtype=dtype, **form))  # type: ignore[arg-type]


def user_frame(source: str, *values: Value, line: int = 10, function: str = "<module>") -> Frame:
    place = Location(file="train.py", line=line, function=function, source=source)
    return Frame(location=place, is_user=True, values=values)


def layer_frame(kind: str, path: str, given: Value, **settings: str) -> Frame:
    place = Location(file="torch/nn/modules/layer.py", line=1, function="forward")
    return Frame(location=place, values=(given,), module=ModuleFact(type=kind, path=path, settings=settings))


def loss_frame(function: str, *values: Value) -> Frame:
    return Frame(location=Location(file="torch/nn/functional.py", line=1, function=function), values=values)


def diagnosed(
    message: str, *frames: Frame, kind: str = "RuntimeError", facts: tuple[Observation, ...] = ()
) -> Diagnosis:
    crash = Crash(exception=kind, message=message, frames=frames)
    found = examine(Run(observations=(crash, *facts))).diagnoses
    assert found, f"nothing said about: {message}"
    return found[0]


def whole_text(diagnosis: Diagnosis) -> str:
    return " ".join([diagnosis.headline, *diagnosis.evidence, *(r.title + (r.diff or "") for r in diagnosis.remedies)])


def test_linear_that_needs_a_flatten_points_at_the_call() -> None:
    built = Location(file="train.py", line=4, source="self.fc1 = nn.Linear(784, 256)")
    said = diagnosed(
        "mat1 and mat2 shapes cannot be multiplied (1792x28 and 784x256)",
        user_frame("x = self.fc1(x)", a_tensor("x", 64, 1, 28, 28)),
        layer_frame(LINEAR, "fc1", a_tensor("input", 64, 1, 28, 28), in_features="784", out_features="256"),
        facts=(LayerBuilt(path="fc1", type=LINEAR, location=built),),
    )
    assert (said.code, said.where.line if said.where else 0) == ("ERR002", 10)
    assert "x.flatten(1)" in whole_text(said)
    assert said.also[0].location == built


def test_linear_of_the_wrong_size_points_at_its_construction() -> None:
    built = Location(file="model.py", line=4, source="self.fc1 = nn.Linear(1920, 32)")
    said = diagnosed(
        "mat1 and mat2 shapes cannot be multiplied (32x1408 and 1920x32)",
        user_frame("x = self.fc1(x)", a_tensor("x", 32, 1408)),
        layer_frame(LINEAR, "fc1", a_tensor("input", 32, 1408), in_features="1920", out_features="32"),
        facts=(LayerBuilt(path="fc1", type=LINEAR, location=built),),
    )
    assert said.where == built
    assert "1408" in said.headline
    assert "1920" in said.headline


@pytest.mark.parametrize(
    "message",
    [
        "mat1 and mat2 must have the same dtype, but got Double and Float",
        "expected m1 and m2 to have the same dtype, but got: double != float",
        "Input type (double) and bias type (float) should be the same",
        "Input type (torch.DoubleTensor) and weight type (torch.FloatTensor) should be the same",
        "expected scalar type Float but found Double",
        "Found dtype Double but expected Float",
        "input must have the type torch.float32, got type torch.float64",
    ],
)
def test_every_wording_of_float64_is_traced_to_its_birth(message: str) -> None:
    source = "import torch\nx = torch.from_numpy(table)\nmodel(x)\n"
    said = diagnosed(
        message,
        user_frame("model(x)", a_tensor("x", 4, 3, dtype="float64"), line=3),
        facts=(SourceFile(file="train.py", text=source),),
    )
    assert said.code == "ERR007"
    assert said.where is not None
    assert said.where.line == 2
    assert "torch.from_numpy(table).float()" in whole_text(said)


def test_float32_against_float32_on_another_device_is_no_dtype_trouble() -> None:
    said = diagnosed(
        "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same",
        user_frame("out = net(x)", a_tensor("x", 4, 3)),
        facts=(ModelAtCrash(name="net", type="Net", parameters=2, trainable=2, devices={"cuda:0": 2}),),
    )
    assert said.code == "ERR011"
    assert "`x` is on cpu" in said.headline
    assert "cuda:0" in said.headline


@pytest.mark.parametrize(
    "message",
    [
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
        "Expected all tensors to be on the same device, but got mat1 is on cpu, different from other tensors on cuda:0 "
        "(when checking argument in method wrapper_CUDA_addmm)",
        "Tensor on device cpu is not on the expected device meta!",
    ],
)
def test_wordings_of_a_device_mismatch(message: str) -> None:
    said = diagnosed(message, user_frame("net(x)", a_tensor("x", 2, 2), a_tensor("y", 2, 2, device="cuda:0")))
    assert said.code == "ERR011"


def test_broadcast_names_both_variables_with_their_shapes() -> None:
    said = diagnosed(
        "The size of tensor a (20) must match the size of tensor b (32) at non-singleton dimension 1",
        user_frame("s = tokens + pos", a_tensor("tokens", 8, 20, 16), a_tensor("pos", 1, 32, 16)),
    )
    assert said.code == "ERR004"
    assert "`tokens` [8, 20, 16]" in said.headline
    assert "`pos` [1, 32, 16]" in said.headline


@pytest.mark.parametrize("operation", ["SigmoidBackward0", "Sigmoid"])
def test_inplace_change_is_found_by_graph_and_source(operation: str) -> None:
    source = "gate = torch.sigmoid(h)\nmixed = gate * h\ngate += 0.1\nmixed.sum().backward()\n"
    message = (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.FloatTensor [8, 12]], which is output 0 of {operation}, is at version 1; expected version 0 instead."
    )
    clash = InplaceClash(
        operation=operation, shape=(8, 12), version=1, expected=0, consumers=("AddBackward0", "MulBackward0")
    )
    said = diagnosed(
        message,
        user_frame("mixed.sum().backward()", line=4),
        facts=(clash, SourceFile(file="train.py", text=source)),
    )
    assert said.code == "ERR012"
    assert said.where is not None
    assert said.where.line == 3
    assert "gate = gate + 0.1" in whole_text(said)


def test_inplace_change_without_any_clue_blames_no_line() -> None:
    message = (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [8, 12]], which is output 0 of TanhBackward0, is at version 3; expected version 2 instead."
    )
    said = diagnosed(
        message,
        user_frame("loss.backward()", line=2),
        facts=(SourceFile(file="train.py", text="count += 1\nloss.backward()\n"),),
    )
    assert said.where is not None
    assert said.where.line == 2
    assert said.confidence == "likely"


def test_second_backward_names_the_keeper_and_its_line() -> None:
    source = (
        "class Net:\n    def forward(self, x):\n        y, self.hidden = self.lstm(x, self.hidden)\n        return y\n"
    )
    fact = StaleGraph(
        operation="StackBackward0",
        shape=(1, 8, 24),
        first_backward=Location(file="train.py", line=9, source="loss.backward()"),
        holders=(Holder(name="model.hidden", kind="attribute", owner="Net", shape=(1, 8, 24)),),
    )
    said = diagnosed(
        "Trying to backward through the graph a second time (or directly access saved tensors after they are freed)",
        user_frame("loss.backward()", line=9),
        facts=(fact, SourceFile(file="train.py", text=source)),
    )
    assert said.code == "ERR015"
    assert said.where is not None
    assert said.where.line == 3
    assert "model.hidden" in said.headline
    assert "retain_graph=True" in whole_text(said)


def test_cut_by_detach_inside_the_models_forward() -> None:
    source = (
        "class Net:\n    def forward(self, x):\n        h = self.body(x).detach()\n        return h * 2\n"
        "out = net(x)\nloss = crit(out, y)\nloss.backward()\n"
    )
    said = diagnosed(
        "element 0 of tensors does not require grad and does not have a grad_fn",
        user_frame("loss.backward()", a_tensor("out", 2, 2), a_tensor("loss"), line=7),
        facts=(
            SourceFile(file="train.py", text=source),
            ModelAtCrash(name="net", type="Net", parameters=2, trainable=2),
        ),
    )
    assert said.code == "ERR014"
    assert said.where is not None
    assert said.where.line == 3
    assert ".detach()" in said.headline


def test_long_targets_are_not_taken_for_the_cut() -> None:
    source = "scores = net(x)\nhard = scores > 0\nloss = crit(hard.float(), y.long())\nloss.backward()\n"
    said = diagnosed(
        "element 0 of tensors does not require grad and does not have a grad_fn",
        user_frame(
            "loss.backward()",
            a_tensor("scores", 4, requires_grad=True),
            a_tensor("hard", 4, dtype="bool"),
            a_tensor("y", 4),
            line=4,
        ),
        facts=(
            SourceFile(file="train.py", text=source),
            ModelAtCrash(name="net", type="Net", parameters=1, trainable=1),
        ),
    )
    assert said.where is not None
    assert said.where.line == 2


def test_label_and_id_out_of_range_tell_row_and_bound() -> None:
    label = IndexOutside(what="label", value=5, bound=5, position=(4,), count=2, total=20, minimum=1, maximum=5)
    said = diagnosed("Target 5 is out of bounds.", user_frame("loss = f(o, y)"), kind="IndexError", facts=(label,))
    assert said.code == "ERR019"
    assert "5 classes" in said.headline
    assert "row 4" in whole_text(said)
    token = IndexOutside(what="embedding", value=100, bound=100, position=(2, 7), count=1, total=64, maximum=100)
    said = diagnosed("index out of range in self", user_frame("e = emb(ids)"), kind="IndexError", facts=(token,))
    assert said.code == "ERR018"
    assert "[2, 7]" in whole_text(said)


def test_batch_of_one_is_explained_by_the_loaders_remainder() -> None:
    message = "Expected more than 1 value per channel when training, got input size torch.Size([1, 40])"
    source = "loader = DataLoader(data, batch_size=32, shuffle=True)\nfor x in loader:\n    net(x)\n"
    said = diagnosed(
        message,
        user_frame("net(x)", line=3),
        kind="ValueError",
        facts=(LoaderAtCrash(name="loader", samples=641, batch_size=32), SourceFile(file="train.py", text=source)),
    )
    assert said.code == "ERR022"
    assert said.where is not None
    assert said.where.line == 1
    assert "drop_last" in whole_text(said)


def test_out_of_memory_tells_fragments_from_need() -> None:
    text = (
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.68 GiB of which 1.19 GiB is "
        "free. {ours} GiB is allocated by PyTorch, and {idle} GiB is reserved by PyTorch but unallocated."
    )
    fragments = diagnosed(text.format(ours="14.00", idle="8.10"), user_frame("net(x)"), kind="torch.OutOfMemoryError")
    need = diagnosed(text.format(ours="22.10", idle="0.10"), user_frame("net(x)"), kind="torch.OutOfMemoryError")
    assert "fragmented" in whole_text(fragments)
    assert "fragmented" not in whole_text(need)
    assert "2 GiB more were wanted" in need.headline


def test_nan_is_named_only_when_values_show_it() -> None:
    message = "all elements of input should be between 0 and 1"
    said = diagnosed(message, user_frame("loss = bce(p, y)", a_tensor("p", 8, nan=3, inf=0)))
    assert said.code == "ERR026"
    assert "3 of 8 values NaN" in said.headline
    finite = Crash(
        exception="RuntimeError", message=message, frames=(user_frame("l = bce(p, y)", a_tensor("p", 8, nan=0)),)
    )
    assert [told.code for told in examine(Run(observations=(finite,))).diagnoses] == ["ERR092"]


def test_target_of_whole_numbers_for_a_float_loss() -> None:
    said = diagnosed(
        "result type Float can't be cast to the desired output type Long",
        user_frame("loss = crit(out, clicked)", a_tensor("out", 4, 1), a_tensor("clicked", 4, 1, dtype="int64")),
        loss_frame("binary_cross_entropy_with_logits", a_tensor("target", 4, 1, dtype="int64")),
    )
    assert said.code == "ERR008"
    assert "clicked.float()" in whole_text(said)


def test_a_kernel_of_a_loss_complains_about_the_target_and_not_about_the_input() -> None:
    message = "\"nll_loss_forward_reduce_cuda_kernel_2d_index\" not implemented for 'Int'"
    frames = (user_frame('loss = self.criterion(logits, batch["label"])'), loss_frame("cross_entropy"))
    found = examine(Run(observations=(Crash(exception="RuntimeError", message=message, frames=frames),))).diagnoses
    assert [told.code for told in found] == ["ERR008"]
    assert found[0].headline.endswith('`batch["label"]` is int32')


def test_a_target_without_a_known_name_is_called_target() -> None:
    message = "\"nll_loss_forward_reduce_cuda_kernel_2d_index\" not implemented for 'Float'"
    said = diagnosed(message, user_frame("step()"), loss_frame("cross_entropy"))
    assert said.code == "ERR008"
    assert [remedy.title for remedy in said.remedies] == ["convert the target: `target.long()`"]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("too many values to unpack (expected 2)", "KeyError"),
        ("something else entirely", "RuntimeError"),
        ("expected str, bytes or os.PathLike object, not tuple", "TypeError"),
    ],
)
def test_other_messages_are_left_alone(message: str, kind: str) -> None:
    crash = Crash(exception=kind, message=message, frames=(user_frame("x = f(y)"),))
    ours = [f"ERR{n:03d}" for n in range(2, 30)]
    assert not [d for d in examine(Run(observations=(crash,))).diagnoses if d.code in ours]


def test_a_pasted_message_without_values_is_still_explained() -> None:
    for message in (
        "mat1 and mat2 shapes cannot be multiplied (32x1408 and 1920x32)",
        "The size of tensor a (20) must match the size of tensor b (32) at non-singleton dimension 1",
        "shape '[-1, 2704]' is invalid for input of size 73728",
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "Trying to backward through the graph a second time",
        "CUDA error: device-side assert triggered",
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    ):
        place = Location(file="train.py", line=3, source="loss.backward()")
        crash = Crash(
            exception="RuntimeError", message=message, source="text", frames=(Frame(location=place, is_user=True),)
        )
        assert examine(Run(observations=(crash,))).diagnoses, message
