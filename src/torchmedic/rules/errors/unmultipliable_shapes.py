"""A linear layer or matrix product whose input has the wrong last dimension."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, ModuleFact, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._handing import Handed, handed_at
from torchmedic.rules.errors._numbers import computed_at
from torchmedic.rules.errors._reading import (
    also,
    built_at,
    crash_in,
    described,
    layer_in,
    layer_input,
    layer_name,
    quoted,
    said,
    setting,
    shape,
    short_type,
    tensors_on_line,
    user_line,
)

_PRODUCT = r"shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)"
_BATCHED = r"Expected size for first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]"
_VECTOR = r"size mismatch, got input \((\d+)\), mat \((\d+)x(\d+)\), vec \((\d+)\)"


class UnmultipliableShapes(Rule):
    """The inner dimensions of a matrix product differ."""

    code = "ERR002"
    name = "unmultipliable-shapes"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message says that shapes cannot be multiplied"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, _PRODUCT, _BATCHED, _VECTOR)
        if crash is None or match is None:
            return
        line = user_line(crash)
        layer = layer_in(crash)
        given = layer_input(crash)
        wanted = setting(layer, "in_features") if layer is not None else None
        if layer is not None and given is not None and wanted is not None:
            turned = len(given.shape) == 2 and given.shape[0] == wanted != given.shape[1]
            yield self._at_layer(run, _model_call(crash) if turned else line, layer, given, wanted, turned)
        elif line is not None:
            yield self._at_product(run, crash, line, match.groups())

    def _at_layer(
        self, run: Run, line: Location | None, layer: ModuleFact, given: TensorSummary, wanted: int, turned: bool
    ) -> Diagnosis:
        name = layer_name(layer)
        built = built_at(run, layer)
        flat = _flatten_from(given.shape, wanted)
        computed = computed_at(run, layer, "in_features") if flat is None and not turned else None
        handed = handed_at(run, layer, "in_features") if flat is None and not turned and computed is None else None
        at_layer = line if flat is not None or turned or built is None else built
        where = computed or (handed.where if handed is not None else at_layer)
        out = layer.settings.get("out_features", "…")
        cure = (
            Remedy(title=f"turn the input: {shape(given.shape[::-1])} would fit `{name}`")
            if turned
            else Remedy(
                title=f"flatten before `{name}`: `x = x.flatten({flat})` makes "
                f"{shape((*given.shape[:flat], wanted))} of {shape(given.shape)}"
            )
            if flat is not None
            else _corrected(name, layer, given.shape[-1])
            if computed is not None
            else Remedy(title=f"pass the arguments in the order of the parameters: {_order(handed)}")
            if handed is not None and handed.crossed
            else Remedy(title=f"write `{call[1]}` instead of `{call[0]}`")
            if handed is not None and (call := handed.rewritten(given.shape[-1])) is not None
            else Remedy(
                title=f"build `{name}` with `in_features={given.shape[-1]}`: "
                f"`{short_type(layer.type)}({given.shape[-1]}, {out})`",
                detail=f"or change what comes before it, so that the last dimension becomes {wanted}",
            )
        )
        return self.diagnose(
            headline=f"`{name}` takes {wanted} features, but its input {shape(given.shape)} "
            f"has {given.shape[-1] if given.shape else 'no'} in the last dimension",
            # Who handed the number in is read from the text of the script.
            confidence="proven" if handed is None or handed.is_seen else "likely",
            where=where,
            label="the input arrives unflattened"
            if flat is not None
            else "the input arrives turned"
            if turned
            else f"{wanted} is worked out here"
            if computed is not None
            else handed.label(wanted)
            if handed is not None
            else f"`in_features` is {wanted}",
            also=also((built, f"`{name}` is built here"), (line, "and is called here"), but=where),
            culprit=Culprit(module=name, tensor="input", phase="forward", op="linear"),
            evidence=(
                f"`{name}` is {short_type(layer.type)}(in_features={wanted}, out_features={out}); its input is {given}",
                *_sizes(given, wanted, flat),
            ),
            remedies=(cure,),
        )

    def _at_product(self, run: Run, crash: Crash, line: Location, sizes: tuple[str, ...]) -> Diagnosis:
        if crash.source == "text" and len(sizes) == 4 and crash.frames[-1].location.file.endswith("linear.py"):
            return self._told_layer(line, *map(int, sizes))
        operands = tensors_on_line(run, crash.user_frame)
        batched = "batch2" in crash.message
        needed, got = (sizes[1], sizes[3]) if batched else (sizes[1], sizes[2])
        last = operands[-1][1].shape[-1:] if operands else ()
        turned = len(operands) >= 2 and last == operands[0][1].shape[-1:] and last == (int(needed),)
        title = (
            f"transpose the second factor: `{operands[-1][0]}.transpose(-2, -1)`"
            if turned
            else "make the last dimension of the first factor equal to the last but one of the second"
        )
        return self.diagnose(
            headline=f"this matrix product needs {needed} rows on the right, but gets {got}",
            confidence="proven",
            where=line,
            culprit=Culprit(tensor=operands[0][0] if operands else None, phase="forward", op="matmul"),
            evidence=(described(operands),) if operands else (),
            remedies=(
                Remedy(title=title),
                *((_if_linear(sizes),) if crash.source == "text" and not batched and len(sizes) == 4 else ()),
            ),
        )

    def _told_layer(self, line: Location, rows: int, got: int, wanted: int, out: int) -> Diagnosis:
        """A linear layer of a pasted traceback, known by the file it failed in and the sizes of the message."""
        calls = re.findall(r"\bself\.(\w+)\(", line.source)
        name = f"self.{calls[0]}" if len(calls) == 1 else "the layer"
        return self.diagnose(
            headline=f"{quoted(name)} takes {wanted} features, but its input [{rows}, {got}] has {got}",
            confidence="proven",
            where=line,
            culprit=Culprit(module=name, tensor="input", phase="forward", op="linear"),
            remedies=(
                Remedy(
                    title=f"build it with `in_features={got}`: `Linear({got}, {out})`",
                    detail=f"or change what comes before it, so that {wanted} features are left: "
                    "the size of the pictures, the layers, where it is flattened",
                ),
            ),
        )


def _if_linear(sizes: tuple[str, ...]) -> Remedy:
    _, got, wanted, out = sizes
    return Remedy(title=f"if it is `Linear({wanted}, {out})`: build it with `in_features={got}`, or bring it {wanted}")


def _order(handed: Handed) -> str:
    return f"`{handed.parameter}={handed.parameter}`, by name, cannot be mistaken"


def _corrected(name: str, layer: ModuleFact, got: int) -> Remedy:
    out = layer.settings.get("out_features", "…")
    return Remedy(
        title=f"correct what is computed here: `{name}` has to be built with `in_features={got}`",
        detail=f"or let `nn.LazyLinear({out})` take the number from its first input",
    )


def _model_call(crash: Crash) -> Location | None:
    """The line that called the outermost model: what is turned was turned before it."""
    frames = [f for f in crash.frames if f.is_user and f.location.function.rpartition(".")[2] != "forward"]
    return frames[-1].location if frames else user_line(crash)


def _flatten_from(sizes: tuple[int, ...], wanted: int) -> int | None:
    """From which dimension on the input has to be flattened to have `wanted` features."""
    starts = range(1, len(sizes) - 1)
    return next((start for start in starts if math.prod(sizes[start:]) == wanted), None)


def _sizes(given: TensorSummary, wanted: int, flat: int | None) -> tuple[str, ...]:
    if flat is not None:
        return (f"{' x '.join(map(str, given.shape[flat:]))} = {wanted}: flattened, it fits",)
    if wanted in given.shape[:-1]:
        return (
            f"dimension {given.shape.index(wanted)} of the input has {wanted}: the dimensions are in another order",
        )
    if given.numel == wanted:
        return (f"the whole input has {wanted} values: the batch dimension is missing",)
    return ()
